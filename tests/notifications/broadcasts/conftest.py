"""Fixtures for tests of broadcasts: no delay before the start, and a time that the test sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.core.database import db_time
from app.core.lib import local_time
from tests.notifications.broadcasts.announcing import Configure, Time


@pytest.fixture
def broadcasting(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Configure:
    def change(**settings: Any) -> None:
        monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], **settings))

    change(broadcast_delay_seconds=(0, 0))
    return change


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(local_time, "now", lambda: found.now)
    monkeypatch.setattr(db_time, "now", lambda: found.now)
    return found
