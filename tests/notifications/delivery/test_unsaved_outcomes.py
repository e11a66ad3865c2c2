"""PostgreSQL failures during a provider call. Redis stores the outcome of the call.

The next drain saves the outcome in PostgreSQL before it sends messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.jobs.redis import WEB, connect
from app.notifications import jobs
from app.notifications.delivery import claims, messaging, unsaved_outcomes
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.outcomes import Outcome, OutcomeKind
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from dev.simulators import Server
from tests.notifications.deliveries import add, age, reread

#: Seconds of a PostgreSQL outage. It is much longer than the lease of a claim.
AWAY_S = 300


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsaved_outcomes, "RETRY_FOR_S", 0.0)


@pytest.fixture
def without_redis(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(committed.extensions, "redis", connect("redis://127.0.0.1:1/0", **WEB))
    yield
    monkeypatch.undo()


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


def test_a_message_sent_during_a_postgresql_failure_is_not_sent_again(committed: Flask, gateway: Server) -> None:
    row = add()
    drain_and_lose_postgresql(committed)
    assert reread(row.dedupe_key).state == DeliveryState.CLAIMED
    age(AWAY_S, of=row)
    jobs.drain("urgent")
    row = reread(row.dedupe_key)
    assert (row.state, row.worker_crashes, row.unconfirmed_calls) == (DeliveryState.SENT, 0, 0)
    assert row.provider_ref == gateway.messaging.sent[0].ref
    assert len(gateway.messaging.sent) == 1
    assert unsaved_outcomes.record_all() == 0


@pytest.mark.usefixtures("without_redis")
def test_without_redis_a_drain_retries_until_postgresql_saves_the_outcome(
    committed: Flask, gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, waits = db.engine, []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            use_engine(committed, engine)

    monkeypatch.setattr(unsaved_outcomes, "sleep", wait)
    row = add()
    drain_and_lose_postgresql(committed)
    row = reread(row.dedupe_key)
    assert (row.state, row.unconfirmed_calls, len(waits)) == (DeliveryState.SENT, 0, 3)
    assert len(gateway.messaging.sent) == 1


def refuse(delivery: Claimed) -> str | None:
    claims.begin(delivery)
    raise ProviderError("messaging", "status")


def break_off(delivery: Claimed) -> str | None:
    claims.begin(delivery)
    raise ProviderError("messaging", "broken", written=True)


@pytest.mark.parametrize(("transport", "unknowns"), [(refuse, 0), (break_off, 1)])
def test_refusals_and_unknown_outcomes_are_also_stored_in_redis(
    committed: Flask, gateway: Server, transport: Callable[[Claimed], str | None], unknowns: int
) -> None:
    row = add()
    drain_and_lose_postgresql(committed, transport)
    age(AWAY_S, of=row)
    assert unsaved_outcomes.record_all() == 1
    row = reread(row.dedupe_key)
    assert (row.state, row.unconfirmed_calls, row.worker_crashes) == (DeliveryState.PENDING, unknowns, 0)


def test_an_outcome_stored_after_a_drain_read_redis_still_prevents_a_new_call(
    committed: Flask, gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = add()
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    claims.begin(claimed)
    age(AWAY_S, of=row)
    # The outcome is stored in Redis just after the drain has read the outcomes there.
    monkeypatch.setattr(
        jobs.unsaved_outcomes,
        "record_all",
        lambda: unsaved_outcomes.store(claimed, Outcome(OutcomeKind.SENT, ref="ref")),
    )
    jobs.drain_suspects("urgent")
    row = reread(row.dedupe_key)
    assert (row.state, row.provider_ref, row.unconfirmed_calls) == (DeliveryState.SENT, "ref", 0)
    assert not gateway.messaging.calls


def test_recording_the_same_outcome_twice_is_idempotent(committed: Flask) -> None:
    row = add()
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    claims.begin(claimed)
    for _ in range(2):
        unsaved_outcomes.store(claimed, Outcome(OutcomeKind.SENT, ref="ref"))
        assert unsaved_outcomes.record_all() == 1
    assert reread(row.dedupe_key).unconfirmed_calls == 0


def test_an_unreadable_outcome_in_redis_does_not_stop_a_drain(committed: Flask, gateway: Server) -> None:
    committed.extensions["redis"].hset(unsaved_outcomes.KEY, "x", b'{"id": 1}')
    row = add()
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.SENT
