"""Claims, leases, retries and expiry of deliveries, and deliveries that kill workers."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.notifications.deliveries import abandon, add, age, begun, drained, reread


def claim():
    return claims.claim("urgent", Channel.MESSAGING)


def test_a_worker_that_lost_its_claim_cannot_record_an_outcome(app):
    row = add()
    first = claim()
    abandon(row)
    assert (claim().id, reread(row.dedupe_key).attempts) == (first.id, 2)
    settlements.record_failed(first, "late")
    settlements.record_sent(first, "late")
    assert reread(row.dedupe_key).state == DeliveryState.CLAIMED
    with pytest.raises(claims.ClaimLostError):
        claims.begin(first)


def test_the_delivery_that_became_due_last_is_claimed_first(app):
    now = local_time.now()
    late = {"expires_at": now + timedelta(hours=1)}
    add(dedupe_key="newest", due_at=now - timedelta(seconds=10), **late)
    add(dedupe_key="backlog", due_at=now - timedelta(seconds=20), **late)
    assert claim().id == reread("newest").id


def test_starting_a_call_extends_the_lease_for_the_length_of_the_call(app):
    row = add()
    claimed = claim()
    assert claims.claim("urgent", Channel.MESSAGING) is None
    age(claims.LEASE_S - 1, of=row)
    claims.begin(claimed)
    age(claims.CALL_S - 1, of=row)
    assert claims.put_back("urgent") == 0


def test_a_retry_is_delayed_and_its_error_is_stored(app):
    row = add()
    before = local_time.now()
    settlements.record_retry(claim(), 40, "messaging: timeout")
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.last_error) == (DeliveryState.PENDING, 1, "messaging: timeout")
    assert before <= row.next_try_at - timedelta(seconds=40) <= local_time.now()


def test_a_delivery_whose_retry_would_be_after_its_expiry_becomes_missed(app):
    row = add()
    settlements.record_retry(claim(), 3700, "messaging: timeout")
    assert reread(row.dedupe_key).state == DeliveryState.MISSED


def test_an_expired_delivery_is_marked_as_missed_and_not_claimed(app):
    row, fresh = add(), add()
    age(3601, of=row)
    age(3590, of=fresh)
    assert claim().id == fresh.id
    assert claims.claim("urgent", Channel.MESSAGING) is None
    assert settlements.expire("urgent") == 1
    row = reread(row.dedupe_key)
    assert row.state == DeliveryState.MISSED
    assert row.settled_at is not None


def test_a_delivery_that_expires_during_its_call_is_still_recorded_as_sent(app):
    row = add(expires_at=local_time.now() + timedelta(seconds=8))
    claimed = begun()
    age(9, of=row)  # the lease of 15 seconds goes on
    assert settlements.expire("urgent") == 0
    settlements.record_sent(claimed, "ref")
    assert reread(row.dedupe_key).state == DeliveryState.SENT


def test_a_postponement_is_not_counted_as_an_attempt(app):
    row = add()
    until = local_time.now() + timedelta(minutes=10)
    settlements.record_postponed(claim(), until)
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.next_try_at) == (DeliveryState.PENDING, 0, until)


def test_the_retry_delay_doubles_up_to_30_minutes_unless_the_provider_wants_more():
    for attempts in (1, 2, 10):
        waits = [settlements.retry_delay_s(attempts) for _ in range(200)]
        assert all(0.75 * 2**attempts <= wait <= 1.25 * 2**attempts for wait in waits), attempts
        assert len(set(waits)) > 100
    assert all(settlements.retry_delay_s(n) <= 1800 for n in (11, 30, 5000))
    assert settlements.retry_delay_s(1, 120.0) == 120.0
    assert settlements.retry_delay_s(20, 7200.0) == 7200.0


def test_a_claim_skips_a_row_that_another_transaction_has_locked(committed):
    held, free = add(), add()
    with db.engine.connect() as other:
        other.execute(sa.select(Delivery.id).where(Delivery.id == held.id).with_for_update())
        assert claim().id == free.id


# --- workers that die: the next drain puts their delivery back --------------------------------------------------------


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
    ("death", "waits_s", "longest", "error"),
    [
        (before_the_call, [10, 20, 40, 80], 1.5, "its worker died"),
        (claims.begin, [30], 1, "outcome unknown: its worker died"),
    ],
    ids=["before the call", "in the call"],
)
def test_a_delivery_that_kills_its_workers_is_repeated_and_then_fails(
    committed, gateway, death, waits_s, longest, error
):
    row = add(expires_at=local_time.now() + timedelta(hours=2))
    for wait_s in waits_s:
        assert wait_s - 1 <= die(row, death) <= longest * wait_s + 1
        row = reread(row.dedupe_key)
        assert (row.state, row.last_error) == (DeliveryState.PENDING, error)
    die(row, death)
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error, row.sealed) == (DeliveryState.FAILED, error, None)
    assert row.settled_at is not None
    assert not gateway.messaging.calls


def test_deliveries_of_one_dead_worker_are_due_again_at_different_times(committed):
    """Otherwise a delivery that kills its workers would always be claimed together with the others, which then fail."""
    rows = [add(), add(), add()]
    for _ in rows:
        claims.claim("urgent", Channel.MESSAGING)
    for row in rows:
        age(claims.LEASE_S + 1, of=row)
    assert claims.put_back("urgent") == len(rows)
    # `age` moved all rows by the same time, so their next times differ only by the wait of each.
    assert len({reread(row.dedupe_key).next_try_at for row in rows}) == len(rows)


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
