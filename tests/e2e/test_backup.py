"""Tests that a backup, restored into an empty database and folder, serves the main routes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import requests
from flask import Flask
from PIL import Image

from app.core.database.session import unit_of_work
from app.core.operations import backup
from app.core.operations.failures import OperatorError
from dev import demo
from dev.demo import people
from dev.stack.processes import WebOnly
from dev.stack.waiting import PATIENCE_S
from dev.testing import empty_database
from tests.helpers.client import Client
from tests.helpers.postgres_programs import PATH

pytestmark = pytest.mark.processes


def test_a_restored_backup_serves_the_main_paths(
    committed: Flask, variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    pictures = sum(path.is_file() for path in Path(committed.extensions["config"].media_root).rglob("*"))
    assert pictures >= 1
    assert f"and {pictures} pictures" in backup.backup(folder)
    assert folder.stat().st_mode & 0o077 == 0
    with pytest.raises(OperatorError, match="is there already"):
        backup.backup(folder)
    with pytest.raises(OperatorError, match="not empty"):
        backup.restore(folder)
    with pytest.raises(OperatorError, match="no finished backup"):
        backup.restore(tmp_path / "elsewhere")

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
