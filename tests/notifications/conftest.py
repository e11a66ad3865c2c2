"""Fixtures that configure the application for one messaging provider and its simulator."""

from functools import partial

import pytest

from app.notifications.senders import sender_status
from app.providers import messaging
from tests.helpers.apps import config_for_tests

#: Settings that define the sender and the form of its messages.
SETTINGS = (
    "messaging_provider",
    "messaging_number",
    "messaging_sender_id",
    "whatsapp_templates",
    "whatsapp_app_secret",
    "fonnte_webhook_token",
)


@pytest.fixture
def configure(real_app, sim, monkeypatch, change_settings):
    """Return a function that makes the service send its messages to the simulator.

    The arguments of the function are additional settings of the service.
    """

    def change(**settings):
        config = config_for_tests(**{**sim.messaging.env(), **settings})
        change_settings(**{name: getattr(config, name) for name in SETTINGS})
        monkeypatch.setitem(real_app.extensions, "messenger", messaging.make(config))

    with real_app.app_context():
        sender_status.clear_cache()
        yield change
        sender_status.clear_cache()


@pytest.fixture
def fonnte(configure):
    configure()
    return configure


@pytest.fixture
def whatsapp(configure):
    """Return a function with more settings of the service, which sends its messages to the simulated WhatsApp."""
    use = partial(configure, MESSAGING_PROVIDER="whatsapp_cloud")
    use()
    return use
