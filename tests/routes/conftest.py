"""Fixture of the small world, with all providers simulated."""

from dataclasses import replace

import pytest

from tests.inbox.phones import APP_SECRET, FONNTE_TOKEN, VERIFY_TOKEN
from tests.pengingat.links import ADDRESS
from tests.routes import world as small


@pytest.fixture
def world(app, client, outside, keys, monkeypatch):
    config = replace(
        app.extensions["config"],
        whatsapp_app_secret=APP_SECRET,
        whatsapp_verify_token=VERIFY_TOKEN,
        fonnte_webhook_token=FONNTE_TOKEN,
        messaging_number="+6281100000000",
        public_url=ADDRESS,
        captcha_secret=None,
    )
    monkeypatch.setitem(app.extensions, "config", config)
    return small.build(client, outside, keys)
