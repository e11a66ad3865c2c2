"""Database addresses that the console uses: all hosts of the settings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from tests.helpers.client import Client


def test_the_console_uses_the_second_host_when_the_first_is_unreachable(
    boss: Client, committed: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = committed.extensions["config"]
    url = sa.make_url(config.database_url)
    hosts = (f"{tmp_path}:5432", f"{url.query['host']}:5432")
    address = url.update_query_dict({"host": hosts}).render_as_string(hide_password=False)
    monkeypatch.setitem(committed.extensions, "config", dataclasses.replace(config, database_url=address))
    response = boss.post("/superadmin/query", {"query": "SELECT username FROM users"})
    assert response.json["rows"] == [{"username": "bos"}]
