"""Receipts, which the provider may report twice, late and in any order."""

import itertools
from datetime import timedelta

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications.delivery import claims, receipts, settlements
from app.notifications.models import Channel, DeliveryState, Inbound, Receipt
from tests.notifications.deliveries import add, age, begun, drained, reread, sent, tell


def take(*, failed=None):
    with unit_of_work():
        return receipts.take(lambda *call: failed is None or failed.append(call), lambda _: None)


def outcome(inbound_id):
    db.session.expire_all()
    row = db.session.get_one(Inbound, inbound_id)
    return row.outcome, row.handled_at is not None


def test_a_receipt_with_the_id_of_an_unsent_delivery_does_not_settle_it(app):
    row = add(due_at=local_time.now() + timedelta(hours=1))
    old = tell(Receipt.READ, delivery=row.id)
    take()
    assert reread(row.dedupe_key).state == DeliveryState.PENDING
    assert outcome(old) == (receipts.IGNORED, True)


def test_later_receipts_may_have_only_the_second_reference_of_an_earlier_one(app):
    row, failed = sent(), []
    tell(Receipt.SENT, ref=row.provider_ref, state_ref="state-1")
    tell(Receipt.FAILED, state_ref="state-1", code="invalid")
    take(failed=failed)
    assert failed == [(row.id, "invalid")]
    assert reread(row.dedupe_key).receipt == Receipt.FAILED
    tell(Receipt.READ, state_ref="state-1")
    take()
    assert reread(row.dedupe_key).receipt == Receipt.READ


def test_a_delivery_keeps_the_most_advanced_receipt_in_any_order(app):
    ranked = [Receipt.SENT, Receipt.FAILED, Receipt.DELIVERED, Receipt.READ]
    for order in itertools.permutations(ranked, 2):
        row = sent()
        assert row.receipt == Receipt.ACCEPTED
        for receipt in order:
            tell(receipt, ref=row.provider_ref)
            take()
        assert reread(row.dedupe_key).receipt == max(order, key=ranked.index), order


def test_a_repeated_receipt_is_applied_once(app):
    row = sent()
    ids = [tell(Receipt.SENT, ref=row.provider_ref) for _ in range(3)]
    assert take() == 3
    assert sorted(outcome(each)[0] for each in ids) == ["applied", "ignored", "ignored"]
    assert take() == 0


def test_the_time_and_the_code_of_a_receipt_are_stored(app):
    row = sent()
    tell(Receipt.FAILED, ref=row.provider_ref, at="2026-03-02T01:00:00+00:00", code="131026")
    take()
    row = reread(row.dedupe_key)
    assert (row.receipt_at.isoformat(), row.receipt_code) == ("2026-03-02T01:00:00+00:00", "131026")


def test_a_failure_is_reported_once_and_not_if_the_message_was_delivered(app):
    row, arrived = sent(), sent()
    for _ in range(2):
        tell(Receipt.FAILED, ref=row.provider_ref, code="131047")
    tell(Receipt.FAILED, ref=arrived.provider_ref, code="131026")
    tell(Receipt.DELIVERED, ref=arrived.provider_ref)
    failed = []
    take(failed=failed)
    tell(Receipt.FAILED, ref=row.provider_ref, code="131047")
    take(failed=failed)
    assert failed == [(row.id, "131047")]


def test_an_unknown_reference_does_not_match_a_message_without_a_reference(app):
    row = add()
    assert claims.claim("urgent", Channel.MESSAGING) is not None
    tell(Receipt.SENT, delivery=row.id)
    strange = tell(Receipt.READ, state_ref="state-of-somebody-else")
    take()
    assert reread(row.dedupe_key).receipt == Receipt.SENT
    assert outcome(strange) == ("ignored", True)


def test_only_one_job_at_a_time_handles_receipts(committed):
    tell(Receipt.SENT, ref=sent().provider_ref)
    with db.engine.connect() as other:
        other.execute(receipts._lock)
        assert take() == 0
    assert take() == 1


def test_a_receipt_settles_a_call_whose_worker_died(committed, gateway):
    for told in (Receipt.SENT, Receipt.DELIVERED, Receipt.FAILED):
        row = add()
        begun()  # the worker dies after the provider accepted it
        tell(told, ref=f"wamid.{told}", delivery=row.id)
        take()
        for _ in range(2):
            age(60, of=row)
            row = drained(row)
        assert (row.state, row.receipt, row.provider_ref) == (DeliveryState.SENT, told, f"wamid.{told}")
        assert (row.unconfirmed_calls, row.sealed, row.settled_at is None) == (0, None, False)
    assert gateway.messaging.sent == []


def test_a_worker_slower_than_the_receipt_cannot_change_the_outcome(app):
    row = add()
    claimed = begun()
    tell(Receipt.DELIVERED, ref="wamid.1", delivery=row.id)
    take()
    settlements.record_unknown(claimed, "the line was cut")
    row = reread(row.dedupe_key)
    assert (row.state, row.receipt, row.last_error) == (DeliveryState.SENT, Receipt.DELIVERED, None)
