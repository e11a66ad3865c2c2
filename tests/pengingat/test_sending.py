"""Checks before a reminder is sent. A message is cancelled if the dose was already answered.

The repeated message is also cancelled if the first message was sent a moment ago.
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import jobs
from app.notifications.delivery import claims
from app.notifications.delivery.message_format import AS_TEMPLATE
from app.notifications.models import Channel, Delivery, DeliveryState
from app.pengingat import service
from app.pengingat.ledger import answers, bells
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Occurrence
from app.pengingat.outgoing import render
from app.push import transport
from app.push.models import PushSubscription
from tests.helpers.client import Client
from tests.helpers.controlled import WEBHOOK_TOKEN
from tests.helpers.factories import make_user
from tests.notifications.deliveries import ready
from tests.pengingat.answering import create, with_doses
from tests.pengingat.medicines import medicine
from tests.pengingat.net.shown import ok

FIRST = "Halo Siti, waktunya minum"
AGAIN = "Halo Siti, kami ingatkan sekali lagi, waktunya minum"


@pytest.fixture
def siti_id(committed, gateway):
    with unit_of_work():
        return make_user(nama_ktp="Siti Aminah", phone="+6281200000001").id


@pytest.fixture(autouse=True)
def _by_day(monkeypatch):
    """Allow repeated messages at night, so that the tests do not depend on the time of day."""
    monkeypatch.setattr(bells, "is_night", lambda _: False)


def messages(*which):
    """Return the outbox rows of chat messages that are due within an hour, in order."""
    soon = Delivery.due_at < sa.func.now() + timedelta(hours=1)
    query = sa.select(Delivery).where(Delivery.channel == Channel.MESSAGING, soon, *which)
    db.session.expire_all()
    return list(db.session.scalars(query.order_by(Delivery.due_at, Delivery.id)))


def change(row, **values):
    with unit_of_work():
        db.session.execute(sa.update(Delivery).where(Delivery.id == row.id).values(values))


def refuse():
    """Simulate that WhatsApp first accepted a text message, and then required a template for this message."""
    (row,) = messages(Delivery.state == DeliveryState.SENT)
    again = {"state": DeliveryState.PENDING, "next_try_at": sa.func.now(), "sealed": None}
    change(row, **again, payload={**row.payload, AS_TEMPLATE: True})


def texts(gateway):
    return [message.text.partition(" Metformin")[0] for message in gateway.messaging.sent]


@pytest.mark.parametrize("status", ["done", "snooze", "deleted", "open"])
def test_a_message_that_needs_a_template_is_sent_again_only_if_the_dose_is_open(siti_id, gateway, status):
    """The person answers the push before WhatsApp requires a template for the message."""
    reminder_id = medicine(siti_id, "Metformin")
    jobs.drain("urgent")
    with unit_of_work():
        if status == "deleted":
            service.delete(siti_id, reminder_id)
        elif status != "open":
            answers.confirm(siti_id, reminder_id, NewAnswer(status))
    refuse()
    jobs.drain("urgent")
    assert texts(gateway) == [FIRST] * (2 if status == "open" else 1)
    state = DeliveryState.SENT if status == "open" else DeliveryState.CANCELLED
    assert messages(Delivery.payload.has_key(AS_TEMPLATE))[0].state == state


def test_a_push_is_sent_only_while_its_dose_is_pending_or_missed(siti_id):
    """A push about a missed dose is sent, because the person can answer a missed dose until the next one is due."""
    with unit_of_work():
        db.session.add(PushSubscription(user_id=siti_id, endpoint="https://push.example.org/siti", p256dh="", auth=""))
    medicine(siti_id, "Metformin")
    transport.fan_out(ready(Channel.PUSH_FAN_OUT))
    push = claims.claim("urgent", Channel.PUSH)
    for state in ("pending", "missed", "done", "skipped", "void"):
        with unit_of_work():
            db.session.execute(sa.update(Occurrence).filter_by(user_id=siti_id).values(state=state))
        assert bool(render.render([push])) is (state in ("pending", "missed"))


def test_the_repeat_is_cancelled_if_the_first_message_was_sent_late(siti_id, gateway):
    """The first message is late, for example because the provider was down until the time of the repeat."""
    medicine(siti_id, "Metformin", due_in_s=-1800, ingatkan_ulang_menit=30)
    assert len(messages()) == 2
    jobs.drain("urgent")
    assert texts(gateway) == [FIRST]
    assert [row.state for row in messages()] == [DeliveryState.SENT, DeliveryState.CANCELLED]


def test_the_repeat_is_sent_if_the_first_message_was_on_time(siti_id, gateway):
    medicine(siti_id, "Metformin", ingatkan_ulang_menit=10)
    first, again = messages()
    change(again, next_try_at=sa.func.now() + timedelta(minutes=10))
    jobs.drain("urgent")
    change(first, settled_at=Delivery.settled_at - timedelta(minutes=9))
    change(again, next_try_at=sa.func.now())
    jobs.drain("urgent")
    assert texts(gateway) == [FIRST, AGAIN]


@pytest.mark.parametrize(
    "failed",
    [
        {"state": DeliveryState.FAILED},
        {"state": DeliveryState.FAILED, "unconfirmed_calls": 2},
        {"state": DeliveryState.SENT, "receipt": "failed"},
        {"state": DeliveryState.MISSED, "last_error": "taken back"},
        {"state": DeliveryState.PENDING, "next_try_at": sa.func.now() + timedelta(minutes=5)},
    ],
    ids=["refused", "unknown twice", "not delivered", "taken back", "waiting"],
)
def test_the_repeat_is_cancelled_if_the_first_message_was_not_accepted(siti_id, gateway, failed):
    medicine(siti_id, "Metformin", ingatkan_ulang_menit=10)
    first, again = messages()
    (dose,) = db.session.scalars(sa.select(Occurrence.id).where(Occurrence.due_at <= sa.func.now()))
    change(first, said=[dose], settled_at=sa.func.now() - timedelta(minutes=9), **failed)
    change(again, next_try_at=sa.func.now())
    jobs.drain("urgent")
    assert texts(gateway) == []
    assert messages()[1].state == DeliveryState.CANCELLED


def test_a_snooze_silences_the_repeat(siti_id, gateway):
    reminder_id = medicine(siti_id, "Metformin", ingatkan_ulang_menit=10)
    jobs.drain("urgent")
    first, again = messages()
    with unit_of_work():
        answers.confirm(siti_id, reminder_id, NewAnswer("snooze", minutes=30))
    change(first, settled_at=Delivery.settled_at - timedelta(minutes=9))
    change(again, next_try_at=sa.func.now())
    jobs.drain("urgent")
    assert texts(gateway) == [FIRST]


# --- the repeat of a message whose call had an unknown outcome --------------------------------------------------------


def test_a_repeat_after_an_unknown_call_keeps_the_numbers_of_what_is_open(controlled, obat):
    with controlled.rewound():
        siti = Client(controlled.app).as_(make_user(nama_ktp="Siti Aminah"))
        details = with_doses(obat, "02:00")
        names = ("Metformin", "Amlodipin", "Captopril")
        first, *_ = [create(siti, {"judul": name, "details": details}, nama_obat=name) for name in names]
        controlled.providers.mood = "silent"
        controlled.set_time(controlled.now.replace(hour=9, minute=0))  # in Jakarta, when the doses are due
        assert controlled.work()
        message = controlled.providers.sent[-1]
        ok(first.say("done"))
        create(siti, {"judul": "Obat baru", "details": details})
        controlled.providers.mood = "up"
        controlled.set_time(controlled.now.replace(minute=1))
        assert controlled.work()
        repeat = controlled.providers.sent[-1]
        assert [line[:2] for line in repeat.text.splitlines()[1:3]] == ["2.", "3."]
        assert repeat.token == message.token
        body = {
            "device": "6281100000000", "sender": str(siti.user.phone).removeprefix("+"), "message": "3",
            "timestamp": int(controlled.now.timestamp()), "inboxid": 1,
        }  # fmt: skip
        ok(siti.with_token("").post(f"/webhooks/fonnte/{WEBHOOK_TOKEN}/message", body))
        controlled.read_inbox()
        states = {row["judul"]: row["state"] for row in ok(siti.get("/pengingat/hari-ini"))}
        assert (states["Amlodipin"], states["Captopril"]) == ("pending", "done")
