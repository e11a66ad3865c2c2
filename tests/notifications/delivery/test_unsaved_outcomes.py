"""PostgreSQL failures during a provider call. The job retries until it has saved the outcome of the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.notifications import jobs
from app.notifications.delivery import claims, drain, messaging
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from dev.simulators import Server
from tests.notifications.deliveries import add, reread


def use_engine(app: Flask, engine: sa.Engine) -> None:
    db._app_engines[app][None] = engine
    app.extensions["autocommit"] = engine.execution_options(isolation_level="AUTOCOMMIT")


def drain_and_lose_postgresql(app: Flask, after: Callable[[Claimed], str | None] = messaging.send) -> None:
    """Run a drain during which PostgreSQL becomes unavailable after the provider call.

    After the drain, PostgreSQL is available again.
    """
    away = sa.create_engine("postgresql+psycopg2://127.0.0.1:1/none")
    engine = db.engine

    def send(delivery: Claimed) -> str | None:
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


def refuse(delivery: Claimed) -> str | None:
    claims.begin(delivery)
    raise ProviderError("messaging", "status")


def break_off(delivery: Claimed) -> str | None:
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
    committed: Flask,
    gateway: Server,
    monkeypatch: pytest.MonkeyPatch,
    transport: Callable[[Claimed], str | None],
    state: str,
    unknowns: int,
) -> None:
    engine, waits = db.engine, []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            use_engine(committed, engine)

    monkeypatch.setattr(drain, "sleep", wait)
    row = add()
    drain_and_lose_postgresql(committed, transport)
    row = reread(row.dedupe_key)
    assert (row.state, row.unconfirmed_calls, len(waits)) == (state, unknowns, 3)
