"""A backup connects to PostgreSQL like the service: with a password, and to the host that responds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg2
import pytest
from flask import Flask

from app.core.operations import backup
from app.core.operations.failures import OperatorError
from config import environment
from dev.servers import programs
from dev.testing import DATABASE_VARIABLE, temporary_servers

PASSWORD = "a:b@c/d e'f%g"


@pytest.fixture(scope="module")
def sockets() -> Iterator[str]:
    """Yield the socket folder of a PostgreSQL server that requires a password."""
    with temporary_servers() as servers:
        address = servers[DATABASE_VARIABLE]
        with closing(psycopg2.connect(address, user="postgres")) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("ALTER ROLE health PASSWORD %s", [PASSWORD])
                cursor.execute("SHOW hba_file")
                hba = Path(cursor.fetchone()[0])  # type: ignore[index]
                hba.write_text(f"local all health scram-sha-256\n{hba.read_text()}")
                cursor.execute("SELECT pg_reload_conf()")
        yield address.rpartition("=")[2]


def log_in(app: Flask, monkeypatch: pytest.MonkeyPatch, query: str, password: str = PASSWORD) -> None:
    """Let the service log in to this PostgreSQL server. `query` is the last part of the database URL."""
    url = f"postgresql+psycopg2://health:{quote(password, safe='')}@/health?{query}"
    monkeypatch.setitem(app.extensions, "config", dataclasses.replace(app.extensions["config"], database_url=url))
    monkeypatch.setenv("PATH", f"{programs()}:{environment()['PATH']}")


@pytest.mark.parametrize(
    "query",
    ["host={there}", "host={nowhere}:5432&host={there}:5432&target_session_attrs=read-write"],
    ids=["one host", "two hosts"],
)
def test_a_backup_and_a_restore_log_in_with_the_password(
    app: Flask, sockets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    log_in(app, monkeypatch, query.format(there=sockets, nowhere=tmp_path))
    backup.backup(tmp_path / "backup")
    assert "Restored the backup" in backup.restore(tmp_path / "backup")


def test_a_wrong_password_is_reported_without_the_password(
    app: Flask, sockets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(app, monkeypatch, f"host={sockets}", password="wrong")
    monkeypatch.setattr(backup, "_revisions", list)  # without `_revisions`, pg_dump connects first
    with pytest.raises(OperatorError, match="password authentication failed") as refused:
        backup.backup(tmp_path / "backup")
    assert "wrong" not in str(refused.value)
