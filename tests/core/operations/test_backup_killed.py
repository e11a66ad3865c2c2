"""Tests of backups and restores whose process is killed.

The PostgreSQL programs that the process has started end too. No backup contains unfinished files of killed processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
from flask import Flask

from app.core.database.session import unit_of_work
from app.core.media import pictures, storage
from app.core.media.storage import Area, FolderStore
from app.core.operations import backup
from app.personal_data import tombstones
from config import ROOT, environment
from dev.servers import programs
from dev.stack.waiting import wait_until
from dev.testing import empty_database, name_of
from tests.helpers.factories import make_article

pytestmark = pytest.mark.processes

PATH = f"{programs()}:{os.environ['PATH']}"
RUNNING = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND datname = %s"


def count(url: str, statement: str, *values: object) -> int:
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        assert row
        return int(row[0])


@pytest.fixture
def large(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill the database until its dump is larger than the buffer of a pipe. Random text cannot be compressed."""
    monkeypatch.setenv("PATH", PATH)
    with unit_of_work():
        make_article(content=os.urandom(4_000_000).hex())


@pytest.fixture
def empty(variables: dict[str, str]) -> str:
    return empty_database(variables["DATABASE_URL"])


def flask(variables: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    env = {**environment(), **variables, "ENVIRONMENT": "testing", "PATH": PATH}
    return subprocess.Popen([sys.executable, "-m", "flask", *arguments], cwd=ROOT, env=env)


@pytest.mark.usefixtures("large")
def test_a_killed_restore_stops_pg_restore_and_restores_no_table(
    variables: dict[str, str], empty: str, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    backup.backup(folder)
    with closing(psycopg2.connect(empty)) as blocking, blocking.cursor() as cursor:
        cursor.execute("CREATE TABLE users ()")  # not committed, so the restore waits for this transaction
        restore = flask({**variables, "DATABASE_URL": empty}, "restore", str(folder))
        wait_until(lambda: count(empty, f"{RUNNING} AND wait_event_type = 'Lock'", "pg_restore", name_of(empty)) == 1)
        restore.kill()
        restore.wait()
        blocking.rollback()
    wait_until(lambda: count(empty, RUNNING, "pg_restore", name_of(empty)) == 0)
    assert count(empty, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0


@pytest.mark.usefixtures("large")
def test_a_killed_backup_stops_pg_dump(variables: dict[str, str], tmp_path: Path) -> None:
    url = variables["DATABASE_URL"]
    with closing(psycopg2.connect(url)) as blocking, blocking.cursor() as cursor:
        cursor.execute("LOCK TABLE articles IN ACCESS EXCLUSIVE MODE")
        dump = flask(variables, "backup", str(tmp_path / "backup"))
        wait_until(lambda: count(url, f"{RUNNING} AND wait_event_type = 'Lock'", "pg_dump", name_of(url)) == 1)
        dump.kill()
        dump.wait()
        blocking.rollback()
    wait_until(lambda: count(url, RUNNING, "pg_dump", name_of(url)) == 0)
    unfinished = tmp_path / "backup.unfinished" / backup.DUMP
    assert unfinished.stat().st_size < 4_000_000  # the dump did not continue after its parent was killed


def test_unfinished_files_are_ignored_by_the_backup_and_the_tombstone_check(
    committed: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", PATH)
    for store in (pictures.store(), storage.area(Area.TOMBSTONES)):
        assert isinstance(store, FolderStore)
        with pytest.raises(KeyboardInterrupt), store._writing("ab12.key"):
            raise KeyboardInterrupt  # this leaves an unfinished file, as a SIGKILL would
    tombstones.check_keys()
    backup.backup(tmp_path / "backup")
    files = {path.name for path in (tmp_path / "backup").rglob("*") if path.is_file()}
    assert {backup.DUMP, backup.MANIFEST} <= files  # other tests may have left more files
    assert not [name for name in files if name.endswith(storage.UNFINISHED)]
    for store in (pictures.store(), storage.area(Area.TOMBSTONES)):
        for name in [name for name, _ in store.names() if name.endswith(storage.UNFINISHED)]:
            store.remove(name)
