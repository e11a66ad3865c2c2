"""Fixtures for grouped reminders (`groups.IS_ON`): several medicines of one person that are due now."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.core.database.session import unit_of_work
from app.notifications.delivery import groups
from app.providers import messaging as provider
from dev.simulators import Server
from tests.helpers.apps import config_for_tests
from tests.helpers.factories import make_user
from tests.pengingat.groups.medicines import ADDRESS, ALL, answer, medicine, sent


@pytest.fixture
def grouping(real_app: Flask, sim: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Turn on the grouping of reminders and the web links in messages. Send messages to a simulated provider."""
    monkeypatch.setattr(groups, "IS_ON", True)
    config = replace(real_app.extensions["config"], public_url=ADDRESS)
    monkeypatch.setitem(real_app.extensions, "config", config)
    monkeypatch.setitem(real_app.extensions, "messenger", provider.make(config_for_tests(**sim.messaging.env())))
    return sim


@pytest.fixture
def siti_id() -> int:
    with unit_of_work():
        return make_user(nama_ktp="Siti Aminah", phone="+6281200000001").id


@pytest.fixture
def three(grouping: Server, siti_id: int) -> list[int]:
    """Create three medicines that were due five seconds ago. Use one transaction for each."""
    return [medicine(siti_id, name) for name in ALL]


__all__ = ["answer", "sent"]  # exported for the tests of the inbox
