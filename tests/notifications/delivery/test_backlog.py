"""Backlogs: a busy provider gets no calls, and all deliveries are sent after it has recovered."""

from dataclasses import replace

from app.notifications import jobs
from app.notifications.delivery import claims, drain
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from dev.stack.waiting import wait_until
from tests.notifications.deliveries import add, age, reread


def route(app, monkeypatch, transport):
    monkeypatch.setitem(app.extensions, "routing", replace(drain.routing(), transports={Channel.MESSAGING: transport}))


def test_a_busy_error_of_the_provider_is_not_counted_as_an_attempt(committed, monkeypatch):
    def busy(delivery):
        claims.begin(delivery)
        raise ProviderError("messaging", "busy", retry_after=5.0)

    row = add()
    route(committed, monkeypatch, busy)
    for _ in range(3):
        jobs.drain("urgent")
        row = reread(row.dedupe_key)
        assert (row.state, row.attempts, row.unconfirmed_calls) == (DeliveryState.PENDING, 0, 0)
        age(8, of=row)


def test_a_drain_limits_its_calls_to_a_busy_provider(committed, monkeypatch):
    calls = []

    def busy(delivery):
        calls.append(delivery.id)
        raise ProviderError("messaging", "busy", retry_after=60.0)

    for _ in range(60):
        add()
    route(committed, monkeypatch, busy)
    monkeypatch.setattr(jobs, "DRAIN_S", 0.5)
    jobs.drain("urgent")
    assert 0 < len(calls) <= drain.THREADS  # the first busy response closes the lane


def test_all_waiting_deliveries_are_sent_after_the_provider_recovers(committed, gateway, monkeypatch):
    rows = [add() for _ in range(40)]
    monkeypatch.setattr(jobs, "DRAIN_S", 0.5)
    gateway.fault("messaging", "status", status=503, times=5)
    jobs.drain("urgent")
    for row in rows:
        age(60, of=row)

    def all_are_sent():
        jobs.drain("urgent")
        return all(reread(row.dedupe_key).state == DeliveryState.SENT for row in rows)

    wait_until(all_are_sent)
