"""Fixture that lets each test of activity logs use Redis, even after a Redis failure."""

from __future__ import annotations

import pytest

from app.logs import buffer


@pytest.fixture(autouse=True)
def redis_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the pause after a Redis failure, so that each test calls Redis."""
    monkeypatch.setattr(buffer, "_redis_paused_until", 0.0)
