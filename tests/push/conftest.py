"""Browsers of the push simulator, and the keys that our pushes are signed with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.core.database.session import unit_of_work
from app.providers import vapid, webpush
from dev.simulators import Server
from tests.helpers.factories import make_user


@pytest.fixture
def keys(real_app: Flask, monkeypatch: pytest.MonkeyPatch) -> str:
    """The application has VAPID keys; gives the public one."""
    public, private = vapid.new_keys()
    config = replace(
        real_app.extensions["config"],
        vapid_public_key=public,
        vapid_private_key=private,
        vapid_subject="mailto:operator@example.com",
    )
    monkeypatch.setitem(real_app.extensions, "config", config)
    monkeypatch.setitem(real_app.extensions, "webpush", webpush.WebPush(config))
    return public


@pytest.fixture
def browser(sim: Server, keys: str) -> dict[str, Any]:
    """A browser's subscription for our key."""
    subscription: dict[str, Any] = sim.push.subscribe(keys)
    return subscription


@pytest.fixture
def user_id() -> int:
    with unit_of_work():
        user = make_user()
    return user.id
