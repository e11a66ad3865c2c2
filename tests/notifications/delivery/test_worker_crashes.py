"""Deliveries during which a worker died. Each of these deliveries is retried alone.

After three deaths, each further death doubles the delay before the next retry.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from time import sleep

import pytest
import sqlalchemy as sa
from flask import Flask
from rq import Queue
from rq.serializers import JSONSerializer

from app.core.database.session import db
from app.core.jobs.queue import connection
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import claims, drain, settlements
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel, Delivery, DeliveryState
from app.providers.http import ProviderError
from dev.simulators import Server
from tests.notifications.deliveries import add, age, die_over, drain_all, reread


def enqueued(queue: str = "urgent") -> list[str]:
    return [str(job.func_name) for job in Queue(queue, connection=connection(), serializer=JSONSerializer).jobs]


def test_a_delivery_is_sent_after_three_worker_crashes(committed: Flask, gateway: Server) -> None:
    row = add()
    die_over(row)
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state in (DeliveryState.PENDING, DeliveryState.CLAIMED)
    jobs.enqueue_due()
    assert "app.notifications.jobs.drain_suspects" in enqueued()
    jobs.drain_suspects("urgent")
    row = reread(row.dedupe_key)
    assert (row.state, row.worker_crashes, len(gateway.messaging.sent)) == (DeliveryState.SENT, 3, 1)


def test_a_suspect_delivery_is_sent_while_no_other_call_is_open(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = [add(), add()]
    die_over(*dying)
    fine = [add() for _ in range(10)]
    in_flight: list[int] = []
    beside: list[int] = []

    def send(delivery: Claimed) -> str | None:
        in_flight.append(delivery.id)
        if delivery.id in {row.id for row in dying}:
            beside.append(len(in_flight))
        in_flight.remove(delivery.id)
        return None

    transports = {Channel.MESSAGING: send}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    jobs.drain("urgent")
    assert beside == []
    assert all(reread(row.dedupe_key).state == DeliveryState.SENT for row in fine)
    jobs.drain_suspects("urgent")
    assert beside == [1, 1]


def test_a_postponed_suspect_is_sent_only_by_the_drain_for_suspects(committed: Flask, gateway: Server) -> None:
    row = add()
    assert claims.claim("urgent", Channel.MESSAGING) is not None
    age(claims.LEASE_S + 1, of=row)
    suspect = claims.claim("urgent", Channel.MESSAGING, claims.SUSPECTS)
    assert suspect is not None
    settlements.record_postponed(suspect, timedelta())
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.PENDING
    jobs.drain_suspects("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.SENT


def test_the_drain_for_suspects_alternates_between_channels(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    die_over(*(add(channel=channel) for channel in (Channel.MESSAGING, Channel.PUSH) for _ in range(2)))
    called: list[str] = []
    transports = {channel: lambda each: called.append(each.channel) for channel in Channel}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    jobs.drain_suspects("urgent")
    assert called == [Channel.MESSAGING, Channel.PUSH] * 2


def test_the_bulk_queue_also_gets_a_drain_for_late_suspects(committed: Flask) -> None:
    row = add()
    die_over(row)
    jobs.enqueue_due()
    assert enqueued("bulk") == []
    age(11, of=row)
    jobs.enqueue_due()
    assert enqueued("urgent") == enqueued("bulk") == ["app.notifications.jobs.drain_suspects"]


@pytest.mark.parametrize("busy", [Channel.MESSAGING, Channel.PUSH])
def test_a_busy_provider_does_not_block_suspects_of_another_channel(
    committed: Flask, monkeypatch: pytest.MonkeyPatch, busy: Channel
) -> None:
    def be_busy(_: Claimed) -> None:
        raise ProviderError("fonnte", "busy", retry_after=60.0)

    transports = {channel: be_busy if channel is busy else lambda _: None for channel in Channel}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    rows = {channel: add(channel=channel) for channel in (Channel.MESSAGING, Channel.PUSH)}
    for row in rows.values():
        die_over(row)
    jobs.drain_suspects("urgent")
    states = {channel: reread(row.dedupe_key).state for channel, row in rows.items()}
    assert states == {channel: DeliveryState.PENDING if channel is busy else DeliveryState.SENT for channel in rows}


def test_deliveries_interrupted_together_are_retried_one_at_a_time(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = {add().id for _ in range(6)}
    while (claimed := claims.claim("urgent", Channel.MESSAGING)) is not None:
        claims.begin(claimed)
    for delivery_id in cut:
        age(claims.LEASE_S + 1, of=db.session.get_one(Delivery, delivery_id))
    fine = {add().id for _ in range(6)}
    in_flight: set[int] = set()
    seen: list[set[int]] = []

    def send(delivery: Claimed) -> str | None:
        in_flight.add(delivery.id)
        seen.append(in_flight & cut)
        sleep(0.05)
        in_flight.remove(delivery.id)
        return None

    transports = {Channel.MESSAGING: send}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    drain_all()
    assert max(len(together) for together in seen) == 1
    states = dict(db.session.execute(sa.select(Delivery.id, Delivery.state)).all())
    assert states == dict.fromkeys(cut | fine, DeliveryState.SENT)


def test_each_further_worker_crash_doubles_the_delay(app: Flask) -> None:
    row = add()
    die_over(row)
    for wait_s in (60, 120, 240):
        assert claims.claim("urgent", Channel.MESSAGING) is None
        before = local_time.now()
        assert claims.claim("urgent", Channel.MESSAGING, claims.SUSPECTS) is not None
        row = reread(row.dedupe_key)
        assert before <= row.next_try_at - timedelta(seconds=wait_s) <= local_time.now()
        assert claims.claim("urgent", Channel.MESSAGING, claims.SUSPECTS) is None
        age(wait_s + 5, of=row)


def test_a_suspect_delivery_that_expires_becomes_missed(committed: Flask) -> None:
    row = add(expires_at=local_time.now() + timedelta(minutes=5))
    die_over(row)
    age(300, of=row)
    jobs.drain("urgent")
    jobs.drain_suspects("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.MISSED
