"""Outcomes of provider calls: refused, sent or unknown. An unknown outcome is repeated at most once."""

import json
from dataclasses import replace
from threading import Condition

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import jobs, outbox
from app.notifications.delivery import claims, drain
from app.notifications.delivery.messaging import send as send_message
from app.notifications.models import Channel, Delivery, DeliveryState
from app.providers import messaging
from app.providers.http import ProviderError
from tests.helpers.apps import config_for_tests
from tests.notifications.deliveries import add, age, drained, reread
from tests.providers.calls import ok
from tests.providers.raw_server import raw


@pytest.mark.parametrize("kind", ["down", "garbage"])
def test_a_message_is_sent_at_most_twice_if_its_outcome_stays_unknown(committed, gateway, kind):
    row = add()
    gateway.fault("messaging", kind, times=None, after=True)
    for _ in range(5):
        jobs.drain("urgent")
        age(60, of=row)
    assert len(gateway.messaging.sent) == 2
    row = reread(row.dedupe_key)
    assert (row.state, row.unconfirmed_calls) == (DeliveryState.FAILED, 2)
    assert row.last_error.startswith("outcome unknown")


@pytest.mark.parametrize(
    ("answer", "state", "calls"),
    [
        ({"status": True, "id": ["80\0"]}, DeliveryState.SENT, 1),
        ({"status": False, "reason": "aneh\0"}, DeliveryState.PENDING, 3),
    ],
)
def test_a_null_character_in_a_response_does_not_change_the_outcome(committed, monkeypatch, answer, state, calls):
    row = add()
    with raw(ok(json.dumps(answer).encode())) as server:
        config = config_for_tests(MESSAGING_PROVIDER="fonnte", MESSAGING_TOKEN="t", MESSAGING_URL=server.url)
        monkeypatch.setitem(committed.extensions, "messenger", messaging.make(config))
        for _ in range(3):
            jobs.drain("urgent")
            age(60, of=row)
    assert (reread(row.dedupe_key).state, len(server.requests)) == (state, calls)


def test_an_unknown_outcome_is_resolved_by_a_retry(committed, gateway):
    row = add()
    gateway.fault("messaging", "drop", after=True)
    row = drained(row)
    assert (row.state, row.unconfirmed_calls) == (DeliveryState.PENDING, 1)
    age(60, of=row)
    row = drained(row)
    assert (row.state, row.unconfirmed_calls, len(gateway.messaging.sent)) == (DeliveryState.SENT, 1, 2)


def test_connection_failures_are_retried_and_not_counted_as_unknown_outcomes(committed, gateway, monkeypatch):
    row = add()
    away = config_for_tests(**{**gateway.messaging.env(), "MESSAGING_URL": gateway.closed_url})
    for _ in range(4):
        with monkeypatch.context() as patch:
            # A new client, as in a new worker process.
            patch.setitem(committed.extensions, "messenger", messaging.make(away))
            jobs.drain("urgent")
        age(60, of=row)
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.unconfirmed_calls) == (DeliveryState.PENDING, 4, 0)
    assert drained(row).state == DeliveryState.SENT


def test_temporary_refusals_are_retried_and_not_counted_as_unknown_outcomes(committed, gateway):
    """`test_sender_status.py` tests refusals that concern our account."""
    row = add()
    for kind in ("status", "rate_limit") * 2:
        gateway.fault("messaging", kind)
        jobs.drain("urgent")
        age(120, of=row)
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.unconfirmed_calls) == (DeliveryState.PENDING, 4, 0)
    assert row.last_error
    assert drained(row).state == DeliveryState.SENT


def test_a_delivery_cancelled_between_claim_and_call_is_not_sent(committed, gateway):
    row, lane = add(), drain.Lane("urgent", Channel.MESSAGING, Condition())
    claimed = lane.next()
    with unit_of_work():
        outbox.cancel(Delivery.dedupe_key == row.dedupe_key)
    lane.handle(claimed)
    assert reread(row.dedupe_key).state == DeliveryState.CANCELLED
    assert not gateway.messaging.calls


# --- PostgreSQL fails during a call: the job retries until it has saved the outcome -----------------------------------


def use_engine(app, engine):
    db._app_engines[app][None] = engine
    app.extensions["autocommit"] = engine.execution_options(isolation_level="AUTOCOMMIT")


def drain_and_lose_postgresql(app, after=send_message):
    """Run a drain during which PostgreSQL becomes unavailable after the provider call.

    After the drain, PostgreSQL is available again.
    """
    away = sa.create_engine("postgresql+psycopg2://127.0.0.1:1/none")
    engine = db.engine

    def send(delivery):
        try:
            return after(delivery)
        finally:
            use_engine(app, away)

    routing = app.extensions["routing"]
    app.extensions["routing"] = replace(routing, transports={**routing.transports, Channel.MESSAGING: send})
    try:
        jobs.drain("urgent")
    finally:
        app.extensions["routing"] = routing
        use_engine(app, engine)


def refuse(delivery):
    claims.begin(delivery)
    raise ProviderError("messaging", "status")


def break_off(delivery):
    claims.begin(delivery)
    raise ProviderError("messaging", "broken", written=True)


@pytest.mark.parametrize(
    ("transport", "state", "unknowns"),
    [(send_message, DeliveryState.SENT, 0), (refuse, DeliveryState.PENDING, 0), (break_off, DeliveryState.PENDING, 1)],
)
def test_a_drain_retries_until_postgresql_saves_the_outcome(
    committed, gateway, monkeypatch, transport, state, unknowns
):
    engine, waits = db.engine, []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            use_engine(committed, engine)

    monkeypatch.setattr(drain, "sleep", wait)
    row = add()
    drain_and_lose_postgresql(committed, transport)
    row = reread(row.dedupe_key)
    assert (row.state, row.unconfirmed_calls, len(waits)) == (state, unknowns, 3)
