"""Backlogs: a busy provider gets no calls, and all deliveries are sent after it has recovered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.notifications import jobs
from app.notifications.delivery import claims, drain
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from dev.simulators import Server
from dev.stack.waiting import wait_until
from tests.notifications.deliveries import add, age, reread


def route(app: Flask, monkeypatch: pytest.MonkeyPatch, transport: drain.Transport) -> None:
    monkeypatch.setitem(app.extensions, "routing", replace(drain.routing(), transports={Channel.MESSAGING: transport}))


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
    assert 0 < len(calls) <= drain.THREADS  # the first busy response closes the lane


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
