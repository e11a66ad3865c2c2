"""Stored data of phone numbers: the time of the last message from the number, and refusals by the provider."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity.models import User
from app.inbox import jobs as inbox
from app.notifications import jobs
from app.notifications.models import Delivery, Receipt
from app.notifications.senders import numbers
from app.notifications.senders.models import PhoneNumber, phone_numbers
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, tell
from tests.notifications.senders.numbers_of_people import make_invalid, pass_time


def row_of(user):
    return db.session.get_one(PhoneNumber, user.phone, populate_existing=True)


def is_invalid(user):
    return db.session.scalar(sa.select(User.phone_invalid_at).filter_by(id=user.id)) is not None


def test_the_latest_message_time_is_stored_in_any_order_of_arrival(siti):
    now = local_time.now()
    for minutes in (30, 5, 60):
        numbers.record_message(siti.user.phone, now - timedelta(minutes=minutes))
    assert row_of(siti.user).last_inbound_at == now - timedelta(minutes=5)


def test_a_message_time_in_the_future_is_limited_to_now(siti):
    numbers.record_message(siti.user.phone, datetime.max.replace(tzinfo=local_time.now().tzinfo))
    assert row_of(siti.user).last_inbound_at <= local_time.now()


def test_a_refusal_a_day_after_the_first_makes_a_number_invalid(siti):
    other = make_user()
    for hours, is_second_day in ((0, False), (23, False), (1, True)):
        pass_time(siti.user, hours=hours)
        assert numbers.refused(siti.user.phone) is is_second_day
        assert is_invalid(siti.user) is is_second_day
    assert not is_invalid(other)


def test_a_message_from_or_to_the_number_resets_its_refusals(siti):
    for there in (numbers.reached, lambda phone: numbers.record_message(phone, local_time.now())):
        numbers.refused(siti.user.phone)
        pass_time(siti.user, hours=25)
        there(siti.user.phone)
        assert not numbers.refused(siti.user.phone)
    assert not is_invalid(siti.user)


def test_an_invalid_number_is_valid_again_after_a_message_from_it(siti):
    make_invalid(siti.user)
    numbers.record_message(siti.user.phone, local_time.now())
    assert not is_invalid(siti.user)


def receive(user, hours_ago=0):
    """Add a message to this person that was delivered then."""
    row = add(user_id=user.id, target=None)
    row.receipt, row.receipt_at = Receipt.DELIVERED, local_time.now() - timedelta(hours=hours_ago)
    db.session.flush()


def test_a_delivered_message_resets_the_refusals_of_its_own_number_only(siti):
    budi = make_user()
    for user in (siti.user, budi):
        numbers.refused(user.phone)
    pass_time(siti.user, hours=25)
    receive(budi)
    receive(siti.user, hours_ago=26)  # before the first refusal
    assert numbers.refused(siti.user.phone)
    assert not numbers.refused(budi.phone)
    assert is_invalid(siti.user)
    assert not is_invalid(budi)


def test_a_wrong_number_stays_invalid_after_a_message_from_it(siti):
    numbers.record_wrong(siti.user.phone)
    numbers.record_message(siti.user.phone, local_time.now())
    pass_time(siti.user, days=8)
    assert is_invalid(siti.user)


def test_a_number_without_an_account_can_be_recorded(app):
    numbers.record_message("+6281200000000", local_time.now())
    assert not numbers.refused("+6281200000000")


# --- evidence that a number is in use: receipts, otherwise the acceptance of a message --------------------------------


@pytest.fixture
def user_id(committed, gateway):
    with unit_of_work():
        return make_user().id


def send(user_id):
    row = add(user_id=user_id, target=None, words={"text": "Halo"})
    jobs.drain("urgent")
    return row.id


def hear(delivery_id, receipt):
    tell(receipt, ref=f"ref:{delivery_id}", delivery=delivery_id)
    inbox.handle()


def is_used():
    db.session.rollback()
    return db.session.scalar(sa.select(phone_numbers.c.used_at)) is not None


def test_without_receipts_an_accepted_message_counts_as_use(user_id):
    send(user_id)
    assert is_used()


@pytest.mark.parametrize("receipt", ["delivered", "read"])
def test_with_receipts_only_a_delivered_message_counts_as_use(user_id, configure, receipt):
    configure(FONNTE_WEBHOOK_TOKEN="x" * 32)
    delivery_id = send(user_id)
    assert not is_used()
    for other in ("sent", "failed"):
        hear(delivery_id, other)
        assert not is_used()
    hear(delivery_id, receipt)
    assert is_used()


@pytest.mark.parametrize("change", [
    sa.update(User).values(phone_changed_at=sa.func.now() + timedelta(minutes=1)),
    sa.update(Delivery).values(target="+6281999999999"),
])  # fmt: skip
def test_a_message_that_did_not_reach_the_number_of_the_person_is_not_a_use(user_id, configure, change):
    configure(FONNTE_WEBHOOK_TOKEN="x" * 32)
    delivery_id = send(user_id)
    with unit_of_work():
        db.session.execute(change)
    hear(delivery_id, "read")
    assert not is_used()


def test_a_second_use_on_the_same_day_is_not_recorded(user_id):
    noted = []
    for _ in range(2):
        send(user_id)
        db.session.rollback()
        noted.append(db.session.scalar(sa.select(phone_numbers.c.used_at)))
    assert noted[0] == noted[1]
