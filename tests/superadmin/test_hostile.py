"""Harmful SQL statements: each gets a response. The service keeps working, and its memory hardly grows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.superadmin.runner.frames import FrameKind
from app.superadmin.service import console
from dev.stack.waiting import eventually, wait_until
from tests.helpers.client import Client, assert_error

pytestmark = [pytest.mark.takes(seconds=48), pytest.mark.processes]  # tests measure memory and wait for timeouts

MEBIBYTE = 1024 * 1024

#: Maximum growth, in bytes, of the total memory of the service and its runners.
ALLOWED_BYTES = 64 * MEBIBYTE


def resident(pid: int | str, field: str = "VmRSS") -> int:
    """Return the resident memory of a process in bytes, or 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    match = re.search(rf"{field}:\s+(\d+) kB", status)
    return int(match[1]) * 1024 if match else 0


class Watched:
    """Peak memory of this process and its runners while a block runs."""

    def __init__(self) -> None:
        self.runners: list[int] = []
        self.peak = 0
        self._before = resident("self")
        self._over = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.002):
            runners = sum(resident(pid) for pid in self.runners)
            self.peak = max(self.peak, runners + resident("self") - self._before)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    popen = console.subprocess.Popen
    with Watched() as watched_processes:

        def start(*args: Any, **options: Any) -> Any:
            process = popen(*args, **options)
            watched_processes.runners.append(process.pid)
            return process

        monkeypatch.setattr(console.subprocess, "Popen", start)
        yield watched_processes


@contextmanager
def short_limit() -> Iterator[None]:
    """Limit each statement to one second. The second begins when the statement's database connection starts."""
    frame = console.Run._frame

    def timed_from_the_backend(run: console.Run) -> tuple[FrameKind, bytes]:
        kind, body = frame(run)
        if kind is FrameKind.BACKEND:
            run._deadline = monotonic() + 1.0
        return kind, body

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console.Run, "_frame", timed_from_the_backend)
        patch.setattr(console, "GRACE_S", 0.3)
        yield


def count(rows: str) -> int:
    """Return the number of matching rows. `rows` is the SQL text after FROM, and may contain a WHERE condition."""
    with db.engine.connect() as connection:
        return int(connection.scalar(sa.text(f"SELECT count(*) FROM {rows}")) or 0)


def nobody_works() -> bool:
    """Return whether all console backends have ended. A terminated backend takes a moment to end."""
    backends = "pg_stat_activity WHERE application_name = 'sql-console' AND datname = current_database()"
    return eventually(lambda: count(backends) == 0)


def still_serves(boss: Client) -> None:
    """Assert that a query works again, although the service may have lost its database connections."""
    body = {"query": "SELECT count(*) AS n FROM users"}
    responses = (boss.post("/superadmin/query", body) for _ in range(4))
    served = next(response for response in responses if response.status_code != 503)
    assert served.json["rows"] == [{"n": 1}]


FOREVER = "SELECT pg_sleep(60)"
BOMB = "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT count(*) FROM t"


@pytest.mark.parametrize(
    "sql",
    [
        FOREVER,
        f"SET statement_timeout = 0; {FOREVER}",
        f"SET idle_in_transaction_session_timeout = 0; SET client_connection_check_interval = 0; {FOREVER}",
        f"SELECT pg_advisory_lock(7); {FOREVER}",
        f"LOCK TABLE users IN ACCESS EXCLUSIVE MODE; {FOREVER}",
        f"UPDATE users SET nama_ktp = 'x'; {FOREVER}",
        BOMB,
        "DO $$ BEGIN LOOP END LOOP; END $$",
        "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$",
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
    ],
)
def test_an_endless_statement_is_stopped_with_a_timeout(boss: Client, watched: Watched, sql: str) -> None:
    with short_limit():
        assert_error(boss.post("/superadmin/query", {"query": sql}), 400, "query_timeout")
    assert nobody_works()
    assert db.session.scalar(sa.text("SELECT pg_try_advisory_lock(7)"))
    assert db.session.scalar(sa.text("SELECT nama_ktp FROM users")) != "x"
    db.session.rollback()
    assert watched.peak < ALLOWED_BYTES
    still_serves(boss)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 200000000)",
        "SELECT repeat('x', 5000000) FROM generate_series(1, 40)",
        "SELECT array_fill('x'::text, ARRAY[30000000])",
        "INSERT INTO kategori (nama_kategori) SELECT 'k' || n FROM generate_series(1, 800000) n RETURNING *",
    ],
)
def test_a_result_that_is_too_large_is_refused_and_rolled_back(boss: Client, watched: Watched, sql: str) -> None:
    assert_error(boss.post("/superadmin/query", {"query": sql}), 400, "result_too_large")
    assert watched.peak < ALLOWED_BYTES
    assert db.session.scalar(sa.text("SELECT count(*) FROM kategori")) == 0
    db.session.rollback()
    still_serves(boss)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM generate_series(1, 5000000)",
        "SELECT * FROM generate_series(1, 5000000); SELECT * FROM generate_series(1, 2000)",
        "SELECT repeat('x', 20000) FROM generate_series(1, 5000)",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
    ],
)
def test_a_result_with_too_many_rows_is_truncated(boss: Client, watched: Watched, sql: str) -> None:
    response = boss.post("/superadmin/query", {"query": sql})
    assert response.status_code == 200, response.json
    assert response.json["truncated"] is True
    assert 100 < len(response.json["rows"]) <= 1000
    assert watched.peak < ALLOWED_BYTES


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("COPY (SELECT 1) TO PROGRAM 'touch /tmp/escaped'", "42501"),
        ("copy/**/kategori FROM PROGRAM 'id'", "42501"),
        ("DO $$ BEGIN EXECUTE 'CO' || 'PY (SELECT 1) TO PROGRAM ''id'''; END $$", "42501"),
        ("COPY users TO STDOUT", "42501"),
        ("SELECT pg_read_file('/etc/passwd')", "42501"),
        ("SELECT lo_import('/etc/passwd')", "42501"),
        ("SET SESSION AUTHORIZATION postgres", "42501"),
        ("ALTER ROLE CURRENT_USER SUPERUSER", "42501"),
        ("ALTER SYSTEM SET shared_buffers = '1MB'", "25001"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "08006"),
        ("DELETE FROM audit_entries", "42501"),
        ("TRUNCATE audit_entries", "42501"),
        ("DELETE FROM kategori; COMMIT; SELECT 1/0", "2D000"),
        ("/* a /* nested */ comment */ rollback", "2D000"),
        ("SELECT 1; BEGIN; SELECT 2", "2D000"),
        ("PREPARE TRANSACTION 'left behind'", "2D000"),
        ("DO $$ BEGIN COMMIT; END $$", "2D000"),
        ("CREATE DATABASE other", "25001"),
        ("SELECT " + "(" * 10000 + "1" + ")" * 10000, "42601"),
        ("SELECT '\"\\u0000\"'::jsonb", "22P05"),
    ],
)
def test_a_forbidden_statement_returns_the_sqlstate_of_postgresql(boss: Client, sql: str, sqlstate: str) -> None:
    response = boss.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    assert response.json["sqlstate"] == sqlstate, response.json
    assert not Path("/tmp/escaped").exists()


def test_the_service_recovers_after_all_other_connections_are_terminated(boss: Client) -> None:
    sql = (
        "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"  # autovacuum must not be ended
    )
    assert boss.post("/superadmin/query", {"query": sql}).status_code == 200
    db.session.remove()
    still_serves(boss)
    db.engine.dispose()


def test_a_query_over_the_concurrency_limit_is_429(
    boss: Client, committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console.RUNS, "wait_s", 0.2)
    statuses: list[int] = []

    def ask() -> None:
        with committed.app_context():
            statuses.append(boss.post("/superadmin/query", {"query": "SELECT pg_advisory_lock(8)::text"}).status_code)

    waiting = (
        "pg_locks JOIN pg_database d ON d.oid = database"
        " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
    )
    with db.engine.connect() as connection:
        connection.execute(sa.text("SELECT pg_advisory_lock(8)"))
        working = [Thread(target=ask) for _ in range(2)]
        for thread in working:
            thread.start()
        wait_until(lambda: count(waiting) == 2)
        for _ in range(2):
            ask()
        assert statuses == [429, 429]
        connection.execute(sa.text("SELECT pg_advisory_unlock(8)"))
    for thread in working:
        thread.join()
    assert statuses[2:] == [200, 200]


def test_closing_an_export_early_ends_its_database_connection(boss: Client, committed: Flask) -> None:
    response = committed.test_client().post(
        "/api/superadmin/query/export",
        json={"query": "SELECT repeat('x', 1000) FROM generate_series(1, 5000000)"},
        headers={"Authorization": f"Bearer {boss.token}"},
    )
    chunks = response.iter_encoded()
    assert next(chunks)
    response.close()
    assert nobody_works()
    still_serves(boss)
