"""Fixtures for tests of broadcasts: no delay before the start, and a time that the test sets."""

import pytest

from app.core.database import db_time
from app.core.lib import local_time
from tests.notifications.broadcasts.announcing import Time


@pytest.fixture
def broadcasting(app, change_settings):
    change_settings(broadcast_delay_seconds=(0, 0))
    return change_settings


@pytest.fixture
def moment(monkeypatch):
    found = Time()
    monkeypatch.setattr(local_time, "now", lambda: found.now)
    monkeypatch.setattr(db_time, "now", lambda: found.now)
    return found
