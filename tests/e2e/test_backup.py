"""Tests that a backup, restored into an empty database and folder, serves the main routes."""

import io
import subprocess
from pathlib import Path

import pytest
import requests
from PIL import Image

from app.core.database.session import unit_of_work
from app.core.operations import restore
from app.core.operations.failures import OperatorError
from dev import demo
from dev.demo import people
from dev.stack.waiting import PATIENCE_S
from tests.helpers.backups import backup_of, empty_service
from tests.helpers.client import Client
from tests.helpers.migrations import scalar
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

    restored = empty_service(variables, tmp_path / "there", RATE_LIMITS="off")
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


def test_a_backup_of_an_unknown_revision_is_refused_before_anything_is_written(committed, variables, tmp_path):
    folder, url = tmp_path / "backup", variables["DATABASE_URL"]
    before = scalar(url, "SELECT version_num FROM alembic_version")
    try:
        scalar(url, "UPDATE alembic_version SET version_num = '9999'")
        backup_of(committed.extensions["config"], folder)
    finally:
        scalar(url, f"UPDATE alembic_version SET version_num = '{before}'")
    restored = empty_service(variables, tmp_path / "there")
    with pytest.raises(subprocess.CalledProcessError):
        restored.flask("restore", str(folder))
    assert scalar(restored.env["DATABASE_URL"], "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
