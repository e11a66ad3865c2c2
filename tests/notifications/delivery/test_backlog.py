"""Backlogs: newly due deliveries do not wait behind old ones, and a busy provider gets no calls."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.notifications import jobs
from app.notifications.delivery import claims, drain
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel, Delivery, DeliveryState
from app.providers.http import ProviderError
from dev.simulators import Server
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.notifications.deliveries import add, age, reread


def route(app: Flask, monkeypatch: pytest.MonkeyPatch, transport: drain.Transport) -> None:
    monkeypatch.setitem(app.extensions, "routing", replace(drain.routing(), transports={Channel.MESSAGING: transport}))


def test_newly_due_deliveries_are_sent_while_calls_for_a_backlog_hang(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = {row.id for row in [add() for _ in range(30)]}
    for delivery_id in waiting:
        age(120, of=db.session.get_one(Delivery, delivery_id))
    hanging, over = [], Event()

    def send(delivery: Claimed) -> str | None:
        if delivery.id in waiting:
            hanging.append(delivery.id)
            over.wait(PATIENCE_S)
        return None

    route(committed, monkeypatch, send)

    def work() -> None:
        with committed.app_context():
            jobs.drain("urgent")

    thread = Thread(target=work)
    thread.start()
    try:
        wait_until(lambda: len(hanging) == drain.THREADS - drain.NEWEST_THREADS)
        rows = [add() for _ in range(20)]
        wait_until(lambda: all(reread(row.dedupe_key).state == DeliveryState.SENT for row in rows))
        assert not over.is_set()
    finally:
        over.set()
        thread.join()
    states = set(db.session.scalars(sa.select(Delivery.state)))
    assert states == {DeliveryState.SENT}


def test_a_busy_error_of_the_provider_is_not_counted_as_an_attempt(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(delivery: Claimed) -> str | None:
        claims.begin(delivery)
        raise ProviderError("messaging", "busy", retry_after=5.0)

    row = add()
    route(committed, monkeypatch, busy)
    for _ in range(3):
        jobs.drain("urgent")
        row = reread(row.dedupe_key)
        assert (row.state, row.attempts, row.unconfirmed_calls) == (DeliveryState.PENDING, 0, 0)
        age(8, of=row)


def test_a_drain_limits_its_calls_to_a_busy_provider(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def busy(delivery: Claimed) -> str | None:
        calls.append(delivery.id)
        raise ProviderError("messaging", "busy", retry_after=60.0)

    for _ in range(60):
        add()
    route(committed, monkeypatch, busy)
    monkeypatch.setattr(jobs, "DRAIN_S", 0.5)
    jobs.drain("urgent")
    assert 0 < len(calls) <= 2 * drain.THREADS  # each thread makes at most two calls


def test_all_waiting_deliveries_are_sent_after_the_provider_recovers(
    committed: Flask, gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [add() for _ in range(40)]
    monkeypatch.setattr(jobs, "DRAIN_S", 0.5)
    gateway.fault("messaging", "status", status=503, times=5)
    jobs.drain("urgent")
    for row in rows:
        age(60, of=row)

    def all_are_sent() -> bool:
        jobs.drain("urgent")
        return all(reread(row.dedupe_key).state == DeliveryState.SENT for row in rows)

    wait_until(all_are_sent)
