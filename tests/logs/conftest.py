"""Redis for the tests of activity logs."""

from __future__ import annotations

import pytest

from app.logs import buffer


@pytest.fixture(autouse=True)
def redis_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask Redis in each test, also after a test in which Redis was away."""
    monkeypatch.setattr(buffer, "_redis_paused_until", 0.0)
