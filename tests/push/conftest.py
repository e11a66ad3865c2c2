"""Fixtures: a browser of the push simulator, and a person."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.database.session import unit_of_work
from dev.simulators import Server
from tests.helpers.factories import make_user


@pytest.fixture
def browser(sim: Server, keys: str) -> dict[str, Any]:
    """Return a new browser's subscription, which uses the service's VAPID key."""
    subscription: dict[str, Any] = sim.push.subscribe(keys)
    return subscription


@pytest.fixture
def user_id() -> int:
    with unit_of_work():
        user = make_user()
    return user.id
