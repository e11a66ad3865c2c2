"""What is noted of numbers: who wrote when, and where nobody is."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.lib import clock
from app.identity.models import User
from app.notifications.models import Receipt
from app.notifications.senders import numbers
from app.notifications.senders.models import PhoneNumber
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add
from tests.notifications.senders.numbers_of_people import make_invalid, pass_time, phone_of


@pytest.fixture
def siti(app: Flask) -> User:
    return make_user()


def row_of(user: User) -> PhoneNumber:
    return db.session.get_one(PhoneNumber, user.phone, populate_existing=True)


def is_invalid(user: User) -> bool:
    return db.session.scalar(sa.select(User.phone_invalid_at).filter_by(id=user.id)) is not None


def test_the_latest_message_counts_in_whatever_order_they_are_told(siti: User) -> None:
    now = clock.now()
    for minutes in (30, 5, 60):
        numbers.heard_from(phone_of(siti), now - timedelta(minutes=minutes))
    assert row_of(siti).last_inbound_at == now - timedelta(minutes=5)


def test_a_message_from_the_future_is_one_of_now(siti: User) -> None:
    numbers.heard_from(phone_of(siti), datetime.max.replace(tzinfo=clock.now().tzinfo))
    noted = row_of(siti).last_inbound_at
    assert noted is not None
    assert noted <= clock.now()


def test_one_refusal_is_no_proof_and_neither_are_two_of_one_day(siti: User) -> None:
    assert not numbers.refused(phone_of(siti))
    pass_time(siti, hours=23)
    assert not numbers.refused(phone_of(siti))
    assert not is_invalid(siti)


def test_a_second_refusal_a_day_later_makes_a_number_invalid(siti: User) -> None:
    other = make_user()
    numbers.refused(phone_of(siti))
    pass_time(siti, hours=24)
    assert numbers.refused(phone_of(siti))
    assert is_invalid(siti)
    assert not is_invalid(other)


def test_whoever_writes_or_is_reached_in_between_is_there(siti: User) -> None:
    for there in (numbers.reached, lambda phone: numbers.heard_from(phone, clock.now())):
        numbers.refused(phone_of(siti))
        pass_time(siti, hours=25)
        there(phone_of(siti))
        assert not numbers.refused(phone_of(siti))
    assert not is_invalid(siti)


def test_an_invalid_number_is_valid_again_once_somebody_is_there(siti: User) -> None:
    make_invalid(siti)
    numbers.heard_from(phone_of(siti), clock.now())
    assert not is_invalid(siti)


def test_an_invalid_number_is_tried_once_after_a_week(siti: User) -> None:
    make_invalid(siti)
    pass_time(siti, days=6, hours=23)
    assert not numbers.take_probe(phone_of(siti))
    pass_time(siti, hours=1)
    assert numbers.take_probe(phone_of(siti))
    assert not numbers.take_probe(phone_of(siti))
    pass_time(siti, days=30)
    assert not numbers.take_probe(phone_of(siti))


def receive(user: User) -> None:
    """Deliver a message to this person now."""
    row = add(user_id=user.id, target=None)
    row.receipt, row.receipt_at = Receipt.DELIVERED, clock.now()
    db.session.flush()


def test_a_dead_number_is_flagged_although_somebody_else_gets_messages(siti: User) -> None:
    budi = make_user()
    for user in (siti, budi):
        numbers.refused(phone_of(user))
    pass_time(siti, hours=25)
    receive(budi)
    assert numbers.refused(phone_of(siti))
    assert not numbers.refused(phone_of(budi))
    assert is_invalid(siti)
    assert not is_invalid(budi)


def test_a_valid_number_needs_no_probe(siti: User) -> None:
    assert not numbers.take_probe(phone_of(siti))


def test_a_wrong_number_is_left_alone_whoever_writes_from_it(siti: User) -> None:
    numbers.wrong(phone_of(siti))
    numbers.heard_from(phone_of(siti), clock.now())
    pass_time(siti, days=8)
    assert is_invalid(siti)
    assert not numbers.take_probe(phone_of(siti))


def test_a_number_that_nobody_has_here_may_be_noted_too(app: Flask) -> None:
    numbers.heard_from("+6281200000000", clock.now())
    assert not numbers.refused("+6281200000000")
