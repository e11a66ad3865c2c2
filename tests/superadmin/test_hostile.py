"""Harmful SQL statements: each gets a response. The service keeps working, and its memory hardly grows."""

import re
from pathlib import Path
from threading import Event, Thread

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.superadmin.service import session
from dev.stack.waiting import eventually, wait_until
from tests.helpers.client import assert_error

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]  # tests measure memory and wait for timeouts

MEBIBYTE = 1024 * 1024

#: Maximum growth of the memory of the service, in bytes. Most answers below are much larger.
ALLOWED_BYTES = 100 * MEBIBYTE


def resident():
    """Return the resident memory of this process in bytes."""
    match = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) * 1024


@pytest.fixture
def bounded():
    """Assert that the memory of this process hardly grows during the test."""
    before, over, peak = resident(), Event(), [0]

    def watch():
        while not over.wait(0.002):
            peak[0] = max(peak[0], resident() - before)

    thread = Thread(target=watch)
    thread.start()
    yield
    over.set()
    thread.join()
    assert 0 < peak[0] < ALLOWED_BYTES


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setattr(session, "LIMIT_S", 1.0)
    monkeypatch.setattr(session, "GRACE_S", 0.3)


def count(rows):
    """Return the number of matching rows. `rows` is the SQL text after FROM, and may contain a WHERE condition."""
    with db.engine.connect() as connection:
        return int(connection.scalar(sa.text(f"SELECT count(*) FROM {rows}")) or 0)


def nobody_works():
    """Return whether all console backends have ended. A terminated backend takes a moment to end."""
    backends = "pg_stat_activity WHERE application_name = 'sql-console' AND datname = current_database()"
    return eventually(lambda: count(backends) == 0)


def still_serves(boss):
    """Assert that a query works again, although the service may have lost its database connections."""
    body = {"query": "SELECT count(*) AS n FROM users"}
    responses = (boss.post("/superadmin/query", body) for _ in range(4))
    served = next(response for response in responses if response.status_code != 503)
    assert served.json["rows"] == [{"n": 1}]


def export(app, boss, sql):
    """Return an export that the caller reads piece by piece."""
    headers = {"Authorization": f"Bearer {boss.token}"}
    return app.test_client().post("/api/superadmin/query/export", json={"query": sql}, headers=headers)


FOREVER = "SELECT pg_sleep(60)"
BOMB = "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT count(*) FROM t"
STUBBORN = "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"


@pytest.mark.parametrize("path", ["/superadmin/query", "/superadmin/query/export"])
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
        STUBBORN,
        f"SET statement_timeout = 0; COMMIT; SET search_path = pg_temp; {STUBBORN}",
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
    ],
)
def test_an_endless_statement_is_stopped_with_a_timeout(boss, short_limit, bounded, path, sql):
    assert_error(boss.post(path, {"query": sql}), 400, "query_timeout")
    assert nobody_works()
    assert db.session.scalar(sa.text("SELECT pg_try_advisory_lock(7)"))
    db.session.execute(sa.text("SELECT pg_advisory_unlock_all()"))
    assert db.session.scalar(sa.text("SELECT nama_ktp FROM users")) != "x"
    db.session.rollback()
    still_serves(boss)


def test_a_stubborn_statement_is_terminated_with_the_parameters_of_the_address(
    boss, committed, change_settings, short_limit
):
    config = committed.extensions["config"]
    address = sa.make_url(config.database_url).update_query_dict({"connect_timeout": "5", "application_name": "own"})
    change_settings(superadmin_database_url=address.render_as_string(hide_password=False))
    assert_error(boss.post("/superadmin/query", {"query": STUBBORN}), 400, "query_timeout")
    assert nobody_works()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 200000000)",
        "SELECT array_fill('x'::text, ARRAY[30000000])",
        "SELECT repeat('x', 50000000) FROM generate_series(1, 20)",
        "SELECT repeat('x', 1000) FROM generate_series(1, 1000000); SELECT 1",
        "INSERT INTO kategori (nama_kategori) SELECT 'k' || n FROM generate_series(1, 400000) n RETURNING *",
        "DO $$ BEGIN LOOP RAISE NOTICE '%', repeat('x', 10000); END LOOP; END $$",
    ],
)
@pytest.mark.parametrize("path", ["/superadmin/query", "/superadmin/query/export"])
def test_a_result_that_is_too_large_is_refused_and_rolled_back(boss, bounded, path, sql):
    assert_error(boss.post(path, {"query": sql}), 400, "result_too_large")
    assert nobody_works()
    assert db.session.scalar(sa.text("SELECT count(*) FROM kategori")) == 0
    db.session.rollback()
    still_serves(boss)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM generate_series(1, 5000000)",
        "SELECT repeat('x', 1000) FROM generate_series(1, 1000000)",
        "SELECT repeat('x', 20000) FROM generate_series(1, 5000)",
        "SELECT repeat('x', 300000) FROM generate_series(1, 3000)",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
    ],
)
def test_a_result_with_too_many_rows_is_truncated(boss, bounded, sql):
    body = boss.post("/superadmin/query", {"query": sql}).ok()
    assert body["truncated"] is True
    assert 10 < len(body["rows"]) <= 1000


def test_an_export_needs_little_memory(boss, committed, bounded):
    response = export(committed, boss, "SELECT repeat('x', 100000) FROM generate_series(1, 2000)")
    assert sum(map(len, response.iter_encoded())) > 2 * ALLOWED_BYTES * 0.9


def test_an_export_breaks_off_at_a_row_that_is_too_large(boss, committed, bounded):
    response = export(committed, boss, "SELECT repeat('x', n) FROM unnest(ARRAY[1, 100000000]) AS n")
    chunks = response.iter_encoded()
    assert b"x" in next(chunks)
    with pytest.raises(session.ResultTooLarge):
        next(chunks)
    response.close()
    assert nobody_works()


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("COPY users TO STDOUT", "42601"),
        ("COPY kategori FROM STDIN", "42601"),
        ("ALTER ROLE CURRENT_USER SUPERUSER", "42501"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "08006"),
        ("DELETE FROM audit_entries", "42501"),
        ("DELETE FROM roles; SELECT 1) AS a; SELECT (1", "42601"),
        ("DELETE FROM user_roles; SELECT 1; SELEC 2", "42601"),
        ("PREPARE TRANSACTION 'left behind'", "55000"),
        ("DO $$ BEGIN COMMIT; END $$", "2D000"),
        ("CREATE DATABASE other", "25001"),
        ("-- nothing but a comment", "42601"),
        ("SELECT " + "(" * 10000 + "1" + ")" * 10000, "42601"),
        ("SET client_encoding = 'LATIN1'; SELECT 'ü'", "22P05"),
        ("SELECT '\"\\u0000\"'::jsonb", "22P05"),
    ],
)
def test_a_forbidden_statement_returns_the_sqlstate_and_leaves_nothing_behind(boss, sql, sqlstate):
    response = boss.post("/superadmin/query", {"query": sql})
    assert_error(response, 400, "sql_error")
    assert response.json["sqlstate"] == sqlstate, response.json
    still_serves(boss)


def test_the_service_recovers_after_all_other_connections_are_terminated(boss):
    sql = (
        "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"  # autovacuum must not be ended
    )
    assert boss.post("/superadmin/query", {"query": sql}).status_code == 200
    db.session.remove()
    still_serves(boss)
    db.engine.dispose()


def test_a_query_over_the_concurrency_limit_is_503(boss, committed, monkeypatch):
    monkeypatch.setattr(session.RUNS, "wait_s", 0.2)
    statuses = []

    def ask():
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
        assert statuses == [503, 503]
        connection.execute(sa.text("SELECT pg_advisory_unlock(8)"))
    for thread in working:
        thread.join()
    assert statuses[2:] == [200, 200]


def test_closing_an_export_early_ends_its_database_connection(boss, committed):
    response = export(committed, boss, "SELECT repeat('x', 1000) FROM generate_series(1, 5000000)")
    chunks = response.iter_encoded()
    assert next(chunks)
    response.close()
    assert nobody_works()
    still_serves(boss)
