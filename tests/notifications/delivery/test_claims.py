"""Claims, leases, retries and expiry of deliveries, and deliveries that kill workers."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.notifications.deliveries import abandon, add, age, reread


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
