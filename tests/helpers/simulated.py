"""Fixtures with the provider simulators, which are reset after each test.

`tests/conftest.py` loads them as a plugin.
"""

import time
from dataclasses import fields

import pytest

from app.articles import live as articles_live
from app.providers import http, messaging, vapid, webpush
from app.videos import live as videos_live
from config import Config
from dev.simulators import simulators
from tests.helpers.apps import config_for_tests


@pytest.fixture(scope="session")
def running():
    with simulators() as server:
        yield server


class Clock:
    """Clock of the HTTP client. A wait before a retry takes no time, and only moves this clock."""

    def __init__(self):
        self.waits = []

    def monotonic(self):
        return time.monotonic() + sum(self.waits)

    def sleep(self, seconds):
        self.waits.append(seconds)


@pytest.fixture
def attempt_waits(monkeypatch):
    """Skip the waits between the attempts of provider calls. Return these waits in seconds."""
    clock = Clock()
    monkeypatch.setattr(http, "time", clock)
    return clock.waits


@pytest.fixture
def sim(running, attempt_waits):
    running.reset()  # a late call of an earlier test may have arrived after the last reset
    yield running
    running.reset()


def parsed(variables):
    """Return the settings, by name of the field, that these environment variables set."""
    config = Config.from_env({"ENVIRONMENT": "testing", **variables})
    return {each.name: getattr(config, each.name) for each in fields(Config) if each.name.upper() in variables}


@pytest.fixture
def outside(sim, change_settings):
    """Yield the simulators, and configure the application to use all of them."""
    change_settings(**parsed(sim.env))
    clients = (articles_live.client, videos_live.client)
    for client in clients:
        client.cache_clear()
    yield sim
    for client in clients:
        client.cache_clear()


@pytest.fixture
def gateway(real_app, sim, monkeypatch):
    """Send the application's messages to the simulator."""
    monkeypatch.setitem(real_app.extensions, "messenger", messaging.make(config_for_tests(**sim.messaging.env())))
    return sim


@pytest.fixture
def keys(real_app, monkeypatch, change_settings):
    """Configure the application with VAPID keys, and return the public key."""
    public, private = vapid.new_keys()
    settings = {"vapid_public_key": public, "vapid_private_key": private, "vapid_subject": "mailto:op@example.com"}
    change_settings(**settings)
    monkeypatch.setitem(real_app.extensions, "webpush", webpush.WebPush(real_app.extensions["config"]))
    return public
