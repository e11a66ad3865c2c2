"""Evidence that a number is in use: receipts if we get them, otherwise the provider's acceptance of a message."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import User
from app.inbox import jobs as inbox
from app.notifications import jobs
from app.notifications.senders.models import phone_numbers
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, tell


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


def test_a_message_sent_before_the_person_had_the_number_is_not_a_use(user_id, configure):
    configure(FONNTE_WEBHOOK_TOKEN="x" * 32)
    delivery_id = send(user_id)
    with unit_of_work():
        db.session.execute(sa.update(User).values(phone_changed_at=sa.func.now() + timedelta(minutes=1)))
    hear(delivery_id, "read")
    assert not is_used()


def test_a_second_use_on_the_same_day_is_not_recorded(user_id):
    noted = []
    for _ in range(2):
        send(user_id)
        db.session.rollback()
        noted.append(db.session.scalar(sa.select(phone_numbers.c.used_at)))
    assert noted[0] == noted[1]
