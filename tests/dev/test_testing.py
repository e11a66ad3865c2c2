"""Tests of the servers and databases of `make test`: each test process has its own database."""

import fcntl
import tempfile
from pathlib import Path

import pytest
from redis import Redis

from config import environment
from dev import testing
from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, own_database, own_redis
from tests.helpers.migrations import scalar


@pytest.fixture
def short_folder():
    """Yield a folder with a short path. The length of socket paths is limited, and `tmp_path` can be too long."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        yield Path(name)


def test_temporary_servers_leave_nothing_behind(short_folder, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    with testing.temporary_servers() as variables:
        assert scalar(variables[DATABASE_VARIABLE], "select 1") == 1
        with Redis.from_url(variables[REDIS_VARIABLE]) as redis:
            assert redis.ping()
        assert list(short_folder.iterdir()) != []
    assert list(short_folder.iterdir()) == []


def test_folders_of_killed_runs_are_removed_and_locked_ones_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, alive = (tmp_path / f"{testing.FOLDER_PREFIX}{name}" for name in ("dead", "alive"))
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "lock").touch()
    with (alive / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        testing.remove_abandoned_folders()
    assert [folder.exists() for folder in (dead, alive)] == [False, True]


def test_processes_of_two_runs_on_one_server_have_different_numbers(process_number):
    server = environment()[DATABASE_VARIABLE]
    with testing.own_number(server) as first, testing.own_number(server) as second:
        assert len({process_number, first, second}) == 3
    with testing.own_number(server) as again:
        assert again <= first  # the numbers are free again


def test_a_changed_migration_makes_a_new_template(tmp_path):
    (tmp_path / "versions").mkdir()
    prints = [testing.fingerprint(tmp_path)]
    for name in ("versions/0001_initial.py", "initial.sql"):
        (tmp_path / name).write_text("1")
        prints.append(testing.fingerprint(tmp_path))
    assert len(set(prints)) == 3


def test_each_process_has_a_copy_of_one_migrated_database(monkeypatch):
    server = environment()[DATABASE_VARIABLE]
    monkeypatch.setattr(testing, "fingerprint", lambda _folder: "of_this_test")
    migrated = []

    def migrate(url):
        migrated.append(url)
        scalar(url, "create table note (text text)")

    first, second = (own_database(server, name, migrate) for name in ("copy_one", "copy_two"))
    scalar(first, "insert into note values ('mine')")
    assert scalar(first, "select count(*) from note") == 1
    assert scalar(second, "select count(*) from note") == 0
    assert len(migrated) == 1


def test_each_process_has_an_empty_database(variables):
    mine = variables["DATABASE_URL"]
    empty = testing.empty_database(mine)
    assert testing.name_of(empty) == f"{testing.name_of(mine)}_empty"
    scalar(empty, "create table note (text text)")
    assert scalar(testing.empty_database(mine), "select count(*) from pg_tables where tablename = 'note'") == 0


def test_a_migration_that_fails_leaves_no_template(monkeypatch):
    server = environment()[DATABASE_VARIABLE]
    monkeypatch.setattr(testing, "fingerprint", lambda _folder: "of_a_failure")

    def fail(_url):
        raise RuntimeError("no such column")

    with pytest.raises(RuntimeError, match="no such column"):
        own_database(server, "copy_of_nothing", fail)
    assert scalar(server, "select count(*) from pg_database where datname = 'template_of_a_failure'") == 0


def test_each_process_has_its_own_redis_database():
    server = environment()[REDIS_VARIABLE]
    with Redis.from_url(own_redis(server, 62)) as mine, Redis.from_url(own_redis(server, 63)) as yours:
        mine.set("note", "mine", ex=5)
        assert yours.get("note") is None
