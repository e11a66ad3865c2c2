"""Tests of messages that Fonnte still holds when they expire.

The service takes these messages back. Their state becomes "missed".
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.models import Delivery, DeliveryState
from app.notifications.senders import jobs as senders
from app.notifications.senders.models import Sender
from app.pengingat.models import Occurrence
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, drained, reread
from tests.notifications.senders.looks import pass_time
from tests.pengingat.ledgers import past


def accepted_and_held(sim, **fields):
    """Send a message that Fonnte accepts and holds, because the phone is off. Check the sender. Return the message."""
    sim.messaging.disconnect(holds=True)
    row = add(**fields)
    jobs.drain("urgent")
    senders.check()
    row = reread(row.dedupe_key)
    assert (row.state, len(sim.messaging.held)) == (DeliveryState.SENT, 1)
    return row


def test_an_expired_message_that_fonnte_still_holds_is_taken_back(committed, sim, fonnte):
    row = accepted_and_held(sim)
    jobs.take_back()
    assert len(sim.messaging.held) == 1  # the message has not expired, so it is not taken back
    pass_time(hours=1)
    jobs.take_back()
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error) == (DeliveryState.MISSED, "taken back")
    sim.messaging.connect()
    assert sim.messaging.sent == []


def test_a_message_that_the_phone_sends_in_time_is_not_taken_back(committed, sim, fonnte):
    row = accepted_and_held(sim)
    pass_time(minutes=30)
    sim.messaging.connect()
    senders.check()
    pass_time(minutes=30)
    jobs.take_back()
    assert reread(row.dedupe_key).state == DeliveryState.SENT
    assert len(sim.messaging.sent) == 1
    assert not any(call.path == "/delete-message" for call in sim.messaging.calls)


def test_a_recall_of_a_message_that_is_not_held_is_requested_once(committed, sim, fonnte):
    row = accepted_and_held(sim)
    sim.messaging.held.clear()
    pass_time(hours=1)
    for _ in range(3):
        jobs.take_back()
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error) == (DeliveryState.SENT, "could not be taken back")
    assert sum(call.path == "/delete-message" for call in sim.messaging.calls) == 1


def test_messages_are_not_taken_back_because_a_former_number_is_down(committed, sim, fonnte):
    with unit_of_work():
        db.session.add(Sender(provider="fonnte", number="+6281100000000", state="down", since=local_time.now()))
    row = add()
    jobs.drain("urgent")
    pass_time(hours=1)
    jobs.take_back()
    assert reread(row.dedupe_key).state == DeliveryState.SENT
    assert not any(call.path == "/delete-message" for call in sim.messaging.calls)


def test_a_recall_that_fails_at_the_provider_is_retried(committed, sim, fonnte):
    row = accepted_and_held(sim)
    pass_time(hours=1)
    for kind in ("status", "token_invalid"):
        sim.fault("messaging", kind)
        jobs.take_back()
        assert reread(row.dedupe_key).state == DeliveryState.SENT, kind
    jobs.take_back()
    assert reread(row.dedupe_key).state == DeliveryState.MISSED


@pytest.mark.parametrize(("receipt", "state"), [("sent", DeliveryState.SENT), ("accepted", DeliveryState.MISSED)])
def test_receipts_decide_the_recall_if_the_phone_seems_connected(committed, sim, configure, receipt, state):
    configure(FONNTE_WEBHOOK_TOKEN="t" * 32)
    row = accepted_and_held(sim)
    sim.messaging.sender.connected = True  # Fonnte still holds the message
    senders.check()
    db.session.get_one(Delivery, row.id).receipt = receipt
    db.session.commit()
    pass_time(hours=1)
    jobs.take_back()
    assert reread(row.dedupe_key).state == state


def test_a_missed_dose_whose_message_was_taken_back_is_undelivered(committed, sim, fonnte):
    due_at = local_time.now() - timedelta(hours=1)
    with unit_of_work():
        person = make_user()
        missed = past(person.id, 1, "missed", due_at=due_at)
    bell = {"kind": "reminder", "payload": {"bell": "first"}, "words": {"text": "Halo"}}
    accepted_and_held(sim, user_id=person.id, target=None, due_at=due_at, **bell)
    pass_time(hours=1)
    with unit_of_work():
        db.session.execute(sa.update(Occurrence).values(due_at=Occurrence.due_at - timedelta(hours=1)))
    jobs.take_back()
    assert db.session.get_one(Occurrence, missed.id, populate_existing=True).undelivered


def test_whatsapp_messages_are_not_taken_back(committed, sim, whatsapp):
    drained(add())
    pass_time(hours=1)
    jobs.take_back()
    assert [call.path.rpartition("/")[2] for call in sim.messaging.calls] == ["messages"]
