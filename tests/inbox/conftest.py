"""The service with webhooks that are live, and Siti's phone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from tests.helpers.client import Client
from tests.inbox.phones import APP_SECRET, FONNTE_TOKEN, VERIFY_TOKEN, Phone


@pytest.fixture
def live(real_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The application, to whose webhooks both providers have the keys."""
    changed = replace(
        real_app.extensions["config"],
        whatsapp_app_secret=APP_SECRET,
        whatsapp_verify_token=VERIFY_TOKEN,
        fonnte_webhook_token=FONNTE_TOKEN,
        messaging_number="+6281100000000",
    )
    monkeypatch.setitem(real_app.extensions, "config", changed)
    return real_app


@pytest.fixture
def provider(live: Flask, client: Client) -> Client:
    return client


@pytest.fixture
def phone(siti: Client) -> Phone:
    """Siti's."""
    number = siti.user.phone
    assert number is not None
    return Phone(number)
