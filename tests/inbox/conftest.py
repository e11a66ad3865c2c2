"""The service with webhooks that are live, and the providers' own hands."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.notifications.models import Inbound

APP_SECRET = "app-secret-of-the-tests"
VERIFY_TOKEN = "verify-token-of-the-tests"
FONNTE_TOKEN = "fonnte-token-of-the-tests-0123456789"


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


def rows() -> list[Inbound]:
    """All that came in."""
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Inbound).order_by(Inbound.id)))
