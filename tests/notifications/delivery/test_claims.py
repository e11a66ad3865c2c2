"""Claims, leases, retries, expiry, and rows that kill workers."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.prepared import PreparedStatement
from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.notifications.deliveries import add, age, reread


def claim(which: PreparedStatement = claims.OLDEST) -> claims.Claimed:
    claimed = claims.claim("urgent", Channel.MESSAGING, which)
    assert claimed is not None
    return claimed


def test_a_claimed_row_is_nobody_elses_until_its_lease_ends(app: Flask) -> None:
    row = add()
    first = claim()
    assert claims.claim("urgent", Channel.MESSAGING) is None
    age(claims.LEASE_S + 1, of=row)
    second = claim(claims.SUSPECTS)
    assert (second.id, second.attempts, second.worker_crashes) == (first.id, 2, 1)


def test_who_lost_the_claim_changes_nothing(app: Flask) -> None:
    row = add()
    first = claim()
    age(claims.LEASE_S + 1, of=row)
    claim(claims.SUSPECTS)
    settlements.record_failed(first, "late")
    settlements.record_sent(first, "late")
    assert reread(row.dedupe_key).state == DeliveryState.CLAIMED


def test_the_longest_due_goes_first(app: Flask) -> None:
    now = local_time.now()
    late = {"expires_at": now + timedelta(hours=1)}
    add(dedupe_key="second", due_at=now - timedelta(seconds=10), **late)
    add(dedupe_key="first", due_at=now - timedelta(seconds=20), **late)
    assert claim().id == reread("first").id


def test_a_retry_waits_and_keeps_its_reason(app: Flask) -> None:
    row = add()
    before = local_time.now()
    settlements.record_retry(claim(), 40, "messaging: timeout")
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.last_error) == (DeliveryState.PENDING, 1, "messaging: timeout")
    assert before <= row.next_try_at - timedelta(seconds=40) <= local_time.now()


def test_a_retry_after_the_expiry_is_a_miss(app: Flask) -> None:
    row = add()
    settlements.record_retry(claim(), 3700, "messaging: timeout")
    assert reread(row.dedupe_key).state == DeliveryState.MISSED


def test_what_expired_is_missed_not_sent(app: Flask) -> None:
    row, fresh = add(), add()
    age(3601, of=row)
    assert claim().id == fresh.id
    assert claims.claim("urgent", Channel.MESSAGING) is None
    assert settlements.expire("urgent") == 1
    row = reread(row.dedupe_key)
    assert row.state == DeliveryState.MISSED
    assert row.settled_at is not None


def test_sixty_minutes_late_is_still_sent(app: Flask) -> None:
    age(3590, of=add())
    assert settlements.expire("urgent") == 0
    claim()


def test_a_postponed_delivery_was_no_attempt(app: Flask) -> None:
    row = add()
    until = local_time.now() + timedelta(minutes=10)
    settlements.record_postponed(claim(), until)
    row = reread(row.dedupe_key)
    assert (row.state, row.attempts, row.next_try_at) == (DeliveryState.PENDING, 0, until)


@pytest.mark.parametrize("attempts", [1, 2, 5, 10])
def test_retries_wait_two_to_the_n_with_jitter(attempts: int) -> None:
    waits = [settlements.retry_delay_s(attempts) for _ in range(200)]
    assert all(0.75 * 2**attempts <= wait <= 1.25 * 2**attempts for wait in waits)
    assert len(set(waits)) > 100


def test_retries_wait_half_an_hour_at_most_unless_the_provider_wishes_more() -> None:
    assert all(settlements.retry_delay_s(n) <= 1800 for n in (11, 30, 5000))
    assert settlements.retry_delay_s(1, 120.0) == 120.0
    assert settlements.retry_delay_s(20, 7200.0) == 7200.0


def test_many_claimers_share_the_rows_without_a_double(committed: Flask) -> None:
    for _ in range(60):
        add()
    claimed: list[int] = []
    start = Barrier(8)

    def work() -> None:
        with committed.app_context():
            start.wait()
            while row := claims.claim("urgent", Channel.MESSAGING):
                claimed.append(row.id)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 60


def test_a_row_that_another_transaction_holds_makes_no_claim_wait(committed: Flask) -> None:
    held, free = add(), add()
    with db.engine.connect() as other:
        other.execute(sa.select(Delivery.id).where(Delivery.id == held.id).with_for_update())
        assert claim().id == free.id
