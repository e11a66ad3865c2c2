"""PostgreSQL failures during a provider call. The job retries until it has saved the outcome of the call."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications import jobs
from app.notifications.delivery import claims, drain, messaging
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from tests.notifications.deliveries import add, reread


def use_engine(app, engine):
    db._app_engines[app][None] = engine
    app.extensions["autocommit"] = engine.execution_options(isolation_level="AUTOCOMMIT")


def drain_and_lose_postgresql(app, after=messaging.send):
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
    [
        (messaging.send, DeliveryState.SENT, 0),
        (refuse, DeliveryState.PENDING, 0),
        (break_off, DeliveryState.PENDING, 1),
    ],
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
