"""Tests that later backups contain nothing of an erased person.

A restore of an older backup does not bring the person back.
"""

import io
import shutil
import subprocess

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.media import pictures
from app.core.operations import restore
from app.identity import own_pictures
from app.identity.models import User
from app.personal_data import jobs
from tests.core.media.samples import plain
from tests.helpers.backups import backup_of, empty_service
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD, make_user
from tests.helpers.migrations import scalar
from tests.helpers.postgres_programs import PATH
from tests.personal_data.leaving import MARKS, PERSON
from tests.personal_data.traces import fill

pytestmark = [pytest.mark.takes(seconds=30), pytest.mark.processes]


def erase(app, user_id):
    with unit_of_work():
        client = Client(app).as_(db.session.get_one(User, user_id))
    assert client.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    with unit_of_work():
        db.session.execute(sa.update(User).where(User.id == user_id).values(erasure_due_at=sa.func.now()))
    jobs.erase(user_id)


def traces(url):
    """Return the tables that contain a text of the erased person."""
    tables = scalar(url, "SELECT array_agg(tablename::text) FROM pg_tables WHERE schemaname = 'public'")
    marked = "SELECT EXISTS (SELECT FROM \"{}\" AS row WHERE row::text ILIKE '%{}%')"
    return [name for name in tables for mark in MARKS if scalar(url, marked.format(name, mark))]


def dumped(folder):
    program = shutil.which("pg_restore", path=PATH)
    assert program
    dump = subprocess.run([program, "--file=-", folder / restore.DUMP], capture_output=True, check=True)
    return dump.stdout.decode()


def test_a_restore_of_an_older_backup_does_not_restore_an_erased_person(committed, variables, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", PATH)
    with unit_of_work():
        siti, other = make_user(**PERSON), make_user(username="tinggal")
        siti_id = siti.id
        fill(siti, other)
        name = pictures.save(io.BytesIO(plain()))
        own_pictures.keep(siti_id, {"image": name})
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    older, newer = shelf / "older", shelf / "newer"
    backup_of(committed.extensions["config"], older)
    assert all(mark.lower() in dumped(older).lower() for mark in MARKS[:2])
    assert (older / "media" / name[:2] / name).exists()

    erase(committed, siti_id)
    backup_of(committed.extensions["config"], newer)
    assert not any(mark.lower() in dumped(newer).lower() for mark in MARKS)
    assert not (newer / "media" / name[:2] / name).exists()
    assert list((newer / "media" / "tombstones").iterdir())

    # The backup is restored on another host. The folder also contains the list of erased people (tombstones) of the
    # newer backup.
    stack = empty_service(variables, tmp_path / "there")
    assert "1 people who had been erased" in stack.flask("restore", str(older))
    assert traces(stack.env["DATABASE_URL"]) == []
    assert not list((tmp_path / "there" / "media").glob(f"*/{name}"))
    assert scalar(stack.env["DATABASE_URL"], "SELECT string_agg(username, ' ') FROM users") == "tinggal"

    # The backup is restored on the same host. The list of erased people (tombstones) is next to the pictures.
    alone = tmp_path / "alone" / "older"
    shutil.copytree(older, alone)
    media = str(committed.extensions["config"].media_root)
    stack = empty_service(variables, tmp_path / "here", MEDIA_ROOT=media)
    assert "1 people who had been erased" in stack.flask("restore", str(alone))
    assert traces(stack.env["DATABASE_URL"]) == []
    assert name not in {stored for stored, _ in pictures.store().names()}
