"""Webhook events about the service's own number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.inbox import jobs as inbox
from app.notifications.models import Inbound
from app.notifications.senders import events, sender_status
from app.notifications.senders import jobs as senders
from app.providers import webhooks
from dev.simulators import Server
from tests.notifications.senders.looks import Configure, sender


def hear(reader: Callable[[object], Any], body: object) -> list[str]:
    """Handle the events in a webhook's body. Return their outcomes."""
    told = reader(body)
    return [events.handle(Inbound(provider=each.provider, kind=each.kind, payload=dict(each.payload))) for each in told]


def test_a_disconnected_phone_stops_the_sender_and_a_reconnect_starts_it(
    app: Flask, sim: Server, fonnte: Configure
) -> None:
    sim.messaging.disconnect()
    assert hear(webhooks.read_fonnte_device, sim.messaging.told[-1]) == ["noted"]
    assert (sender().state, sender().reason) == ("down", "request invalid on disconnected device")
    assert sender().held_since is not None
    sim.messaging.connect()
    hear(webhooks.read_fonnte_device, sim.messaging.told[-1])
    assert (sender().state, sender().reason, sender().held_since) == ("up", None, None)


def test_a_ban_stops_the_sender_and_its_end_starts_it(app: Flask, sim: Server, whatsapp: Configure) -> None:
    senders.check()
    sim.messaging.ban()
    hear(webhooks.read_whatsapp, sim.messaging.told[-1])
    assert (sender().state, sender().needs_trial) == ("down", True)
    senders.check()
    assert sender().state == "down"
    reinstated = {"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": "REINSTATE"}}
    hear(webhooks.read_whatsapp, change("account_update", reinstated))
    assert sender().state == "up"


def test_a_stored_event_is_handled_by_the_inbox_job(committed: Flask, sim: Server, whatsapp: Configure) -> None:
    sim.messaging.ban()
    with unit_of_work():
        for each in webhooks.read_whatsapp(sim.messaging.told[-1]):
            row = Inbound(provider=each.provider, kind=each.kind, payload=dict(each.payload), event_key=each.key)
            db.session.add(row)
    inbox.handle()
    assert db.session.scalars(sa.select(Inbound.outcome)).all() == ["noted"]
    assert sender().state == "down"


def test_a_lower_quality_is_stored_and_does_not_stop_the_sender(app: Flask, sim: Server, whatsapp: Configure) -> None:
    sim.messaging.limit_people(250)
    sim.messaging.lower_quality()
    hear(webhooks.read_whatsapp, sim.messaging.told[-1])
    assert (sender().quality, sender().limit_24h, sender().state) == ("red", 250, "up")


def test_an_account_restriction_degrades_the_sender(app: Flask, sim: Server, whatsapp: Configure) -> None:
    told = {"event": "ACCOUNT_RESTRICTION", "restriction_info": [{"restriction_type": "RESTRICTED_BIZ_INITIATED"}]}
    hear(webhooks.read_whatsapp, change("account_update", told))
    assert (sender().state, sender().reason) == ("degraded", "account: ACCOUNT_RESTRICTION")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("account_update", {"event": "VERIFIED_ACCOUNT"}),
        ("account_update", {"event": ["odd"], "ban_info": "odd"}),
        ("phone_number_quality_update", {"event": "ONBOARDING", "current_limit": 7}),
        ("account_alerts", {}),
    ],
)
def test_irrelevant_events_are_ignored(
    app: Flask, sim: Server, whatsapp: Configure, field: str, value: dict[str, Any]
) -> None:
    assert hear(webhooks.read_whatsapp, change(field, value)) == ["ignored"]
    assert sender_status.current() is None


def test_an_event_about_another_number_of_the_account_is_ignored(app: Flask, sim: Server, configure: Configure) -> None:
    configure(MESSAGING_PROVIDER="whatsapp_cloud", MESSAGING_NUMBER="+6281234567890")
    value = {"display_phone_number": "62 811-0000-0000", "event": "FLAGGED"}
    assert hear(webhooks.read_whatsapp, change("phone_number_quality_update", value)) == ["ignored"]
    value["display_phone_number"] = "62 812-3456-7890"
    assert hear(webhooks.read_whatsapp, change("phone_number_quality_update", value)) == ["noted"]


def test_an_event_of_a_provider_that_is_not_in_use_is_ignored(app: Flask, sim: Server, whatsapp: Configure) -> None:
    sim.messaging.disconnect()
    assert hear(webhooks.read_fonnte_device, sim.messaging.told[-1]) == ["ignored"]


def change(field: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"entry": [{"time": 1, "changes": [{"field": field, "value": value}]}]}
