"""Tests that a backup, restored into an empty database and folder, serves the main routes."""

import io
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
import requests
from PIL import Image

from app.core.database.session import unit_of_work
from app.core.operations import restore
from app.core.operations.failures import OperatorError
from dev import demo
from dev.demo import people
from dev.stack.processes import WebOnly
from dev.stack.waiting import PATIENCE_S
from dev.testing import empty_database
from tests.helpers.backups import backup_of
from tests.helpers.client import Client
from tests.helpers.postgres_programs import PATH

pytestmark = pytest.mark.processes


def test_a_restored_backup_serves_the_main_paths(committed, variables, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", PATH)
    with unit_of_work():
        demo.fill()
        siti = people.person("siti")
    client = Client(committed).as_(siti)
    picture = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(picture, "PNG")
    picture.seek(0)
    form = {"nik": "3273014502900001", "image": (picture, "foto.png")}
    profile = client.put("/profile", data=form).json
    threads = client.get("/forum/threads").json
    assert profile is not None
    assert threads

    folder = tmp_path / "backup"
    pictures = sum(path.is_file() for path in Path(committed.extensions["config"].media_root).glob("??/*"))
    assert pictures >= 1
    backup_of(committed.extensions["config"], folder)
    with pytest.raises(OperatorError, match="not empty"):
        restore.restore(folder)
    with pytest.raises(OperatorError, match="no finished backup"):
        restore.restore(tmp_path / "elsewhere")

    there = tmp_path / "there"
    there.mkdir()
    url = empty_database(variables["DATABASE_URL"])
    restored = WebOnly({**variables, "DATABASE_URL": url, "PATH": PATH, "RATE_LIMITS": "off"}, there)
    assert f"{pictures} pictures" in restored.flask("restore", str(folder))
    with restored as stack:
        login = stack.call("POST", "/login", json={"username": "siti", "password": "rahasia123"}).json()
        known = stack.call("GET", "/profile", login["access_token"]).json()
        assert (known["nik"], known["image"]) == ("3273014502900001", profile["image"])
        served = requests.get(stack.url.removesuffix("/api") + known["image"], timeout=PATIENCE_S)
        assert Image.open(io.BytesIO(served.content)).format == "WEBP"
        assert [row["title"] for row in stack.call("GET", "/forum/threads").json()] == [row["title"] for row in threads]
        body = {"category_id": threads[0]["category_id"], "title": "Baru", "content": "Sesudah pulih."}
        assert stack.call("POST", "/forum/threads", login["access_token"], json=body).status_code == 201


def rename_revision(url, name):
    """Change the name of the database's revision. Return the former name."""
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("SELECT version_num FROM alembic_version")
        (before,) = cursor.fetchone() or ("",)
        cursor.execute("UPDATE alembic_version SET version_num = %s", [name])
    return str(before)


def test_a_backup_of_an_unknown_revision_is_refused_before_anything_is_written(committed, variables, tmp_path):
    folder, there = tmp_path / "backup", tmp_path / "there"
    before = rename_revision(variables["DATABASE_URL"], "9999")
    try:
        backup_of(committed.extensions["config"], folder)
    finally:
        rename_revision(variables["DATABASE_URL"], before)
    there.mkdir()
    url = empty_database(variables["DATABASE_URL"])
    restored = WebOnly({**variables, "DATABASE_URL": url, "PATH": PATH}, there)
    with pytest.raises(subprocess.CalledProcessError):
        restored.flask("restore", str(folder))
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert cursor.fetchone() == (0,)
