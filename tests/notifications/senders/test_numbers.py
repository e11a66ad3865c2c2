"""Stored data of phone numbers: the time of the last message from the number, and refusals by the provider."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.identity.models import User
from app.notifications.models import Receipt
from app.notifications.senders import numbers
from app.notifications.senders.models import PhoneNumber
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add
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


def receive(user):
    """Add a message to this person that was delivered now."""
    row = add(user_id=user.id, target=None)
    row.receipt, row.receipt_at = Receipt.DELIVERED, local_time.now()
    db.session.flush()


def test_a_delivered_message_resets_the_refusals_of_its_own_number_only(siti):
    budi = make_user()
    for user in (siti.user, budi):
        numbers.refused(user.phone)
    pass_time(siti.user, hours=25)
    receive(budi)
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
