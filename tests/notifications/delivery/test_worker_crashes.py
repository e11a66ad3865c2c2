"""Workers that die while they send a delivery. The next drain puts the delivery back."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.notifications.deliveries import add, age, begun, drained, reread


def before_the_call(_):
    pass


def die(row, death):
    """Let a worker claim a delivery and die. Put the delivery back. Return the seconds until it is due again."""
    claimed = claims.claim("urgent", Channel.MESSAGING)
    death(claimed)
    age(claims.LEASE_S + 1, of=row)
    put_back_at = local_time.now()
    jobs.drain("urgent")
    left_s = (reread(row.dedupe_key).next_try_at - put_back_at).total_seconds()
    if reread(row.dedupe_key).state == DeliveryState.PENDING:
        age(left_s, of=row)
    return left_s


@pytest.mark.parametrize(
    ("death", "waits_s", "error"),
    [(before_the_call, [10, 20, 40, 80], "its worker died"), (claims.begin, [30], "outcome unknown: its worker died")],
    ids=["before the call", "in the call"],
)
def test_a_delivery_that_kills_its_workers_is_repeated_and_then_fails(committed, gateway, death, waits_s, error):
    row = add(expires_at=local_time.now() + timedelta(hours=2))
    for wait_s in waits_s:
        assert die(row, death) == pytest.approx(wait_s, abs=1)
        row = reread(row.dedupe_key)
        assert (row.state, row.last_error) == (DeliveryState.PENDING, error)
    die(row, death)
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error, row.sealed) == (DeliveryState.FAILED, error, None)
    assert row.settled_at is not None
    assert not gateway.messaging.calls


@pytest.mark.parametrize(("death", "unknowns"), [(before_the_call, 0), (claims.begin, 1)])
def test_a_delivery_is_sent_after_the_death_of_its_worker(committed, gateway, death, unknowns):
    row = add()
    die(row, death)
    row = drained(row)
    assert (row.state, row.worker_crashes, row.unconfirmed_calls) == (DeliveryState.SENT, 1, unknowns)
    assert len(gateway.messaging.sent) == 1


def test_a_worker_that_was_only_frozen_still_records_that_it_sent_the_delivery(committed, gateway):
    row = add()
    claimed = begun()
    age(claims.LEASE_S + 1, of=row)
    jobs.drain("urgent")
    settlements.record_sent(claimed, "ref")
    age(60, of=row)
    row = drained(row)
    assert (row.state, row.provider_ref, row.unconfirmed_calls) == (DeliveryState.SENT, "ref", 0)
    assert not gateway.messaging.calls


def test_an_abandoned_delivery_that_expires_becomes_missed(committed):
    row = add(expires_at=local_time.now() + timedelta(minutes=5))
    assert claims.claim("urgent", Channel.MESSAGING) is not None
    age(300, of=row)
    assert drained(row).state == DeliveryState.MISSED


def test_a_tick_enqueues_a_drain_for_an_abandoned_delivery_and_a_second_if_it_is_late(committed):
    redis, row = committed.extensions["redis"], add()
    assert claims.claim("urgent", Channel.MESSAGING) is not None
    for seconds, enqueued in ((0, (0, 0)), (claims.LEASE_S, (1, 0)), (11, (1, 1))):
        age(seconds, of=row)
        jobs.enqueue_due()
        assert (redis.llen("rq:queue:urgent"), redis.llen("rq:queue:bulk")) == enqueued
    assert db.session.scalar(sa.select(Delivery.state)) == DeliveryState.CLAIMED
