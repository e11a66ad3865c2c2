"""Webhooks of the provider: messages that fail after they were accepted, and events about the own number."""

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import connection
from app.core.lib import local_time
from app.identity.models import User
from app.inbox import jobs as inbox
from app.notifications import jobs
from app.notifications.delivery import drain, failed_receipts
from app.notifications.models import DeliveryState, Inbound
from app.notifications.senders.models import PhoneNumber
from app.pengingat.ledger import missed
from app.pengingat.models import Occurrence
from app.providers import webhooks
from tests.notifications.deliveries import REMINDER, add, committed_user, drained, reread
from tests.notifications.senders.looks import rows, sender
from tests.notifications.senders.numbers_of_people import pass_time
from tests.pengingat.ledgers import past

SECRET = {"WHATSAPP_APP_SECRET": "s"}
TEMPLATES = {**SECRET, "WHATSAPP_TEMPLATES": '{"reminder": "pengingat"}', "MESSAGING_PROVIDER": "whatsapp_cloud"}


def hear_all(sim):
    """Handle all webhook requests of the provider. Repeated events are stored once."""
    for told in sim.messaging.told:
        read = webhooks.read_whatsapp if "entry" in told else webhooks.read_fonnte_status
        for event in read(told):
            with unit_of_work():
                values = {**vars(event), "event_key": event.key}
                values.pop("key")
                if db.session.scalar(sa.select(Inbound.id).filter_by(event_key=event.key)) is None:
                    db.session.add(Inbound(**values))
    sim.messaging.told.clear()
    inbox.handle()


def test_a_message_that_whatsapp_refuses_later_is_sent_once_as_a_template(committed, sim, configure, monkeypatch):
    configure(**TEMPLATES)
    render = {"reminder": lambda deliveries: {each.id: REMINDER for each in deliveries}}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), render=render))
    sim.messaging.sender.keeps_hours = True
    user = committed_user()
    with unit_of_work():
        # According to our database, the number has just written to us, so the service may send free text for 24 hours.
        db.session.add(PhoneNumber(phone=user.phone, last_inbound_at=local_time.now()))
    drained(add(user_id=user.id, target=None, kind="reminder", payload={}))
    assert sim.messaging.sent == []
    for _ in range(2):
        hear_all(sim)
        jobs.drain("urgent")
    (row,) = rows()
    assert (row.state, row.receipt) == (DeliveryState.SENT, "accepted")
    with unit_of_work():
        failed_receipts.record(row.id, "131047")  # a template is not sent once more
    jobs.drain("urgent")
    assert [(message.kind, message.callback) for message in sim.messaging.sent] == [("template", f"d:{row.id}")]


@pytest.mark.parametrize("settings", [TEMPLATES, {"FONNTE_WEBHOOK_TOKEN": "t" * 32}], ids=["whatsapp", "fonnte"])
def test_a_number_is_flagged_after_accepted_messages_failed_on_two_days(committed, sim, configure, settings):
    configure(**settings)
    user = committed_user()
    for is_second in (False, True):
        sim.messaging.fail_later()
        drained(add(user_id=user.id, target=None, kind="reminder", words=REMINDER))
        hear_all(sim)
        invalid_at = db.session.get_one(User, user.id, populate_existing=True).phone_invalid_at
        assert (invalid_at is not None) is is_second
        pass_time(user, hours=24)
        db.session.commit()
    assert {row.receipt for row in rows()} == {"failed"}


def test_a_delivered_message_between_two_failures_keeps_the_number_valid(committed, sim, configure):
    configure(**TEMPLATES)
    user = committed_user()
    for fails in (True, False, True):
        if fails:
            sim.messaging.fail_later()
        row = add(user_id=user.id, target=None, kind="reminder", words=REMINDER)
        jobs.drain("urgent")
        if fails:
            hear_all(sim)
            pass_time(user, hours=25)
        else:
            row = reread(row.dedupe_key)
            row.receipt, row.receipt_at = "delivered", local_time.now()
        db.session.commit()
    assert db.session.get_one(User, user.id, populate_existing=True).phone_invalid_at is None


def test_a_receipt_that_reports_a_ban_stops_the_sender(committed, sim, configure):
    configure(**TEMPLATES)
    sim.messaging.fail_later(code="131031")
    drained(add(kind="reminder", words=REMINDER))
    hear_all(sim)
    assert (sender().state, sender().reason) == ("down", "code 131031")


def test_a_missed_dose_whose_message_failed_later_is_marked_as_undelivered(committed, sim, configure):
    configure(**TEMPLATES)
    user = committed_user()
    due_at = local_time.now() - timedelta(hours=1)
    with unit_of_work():
        dose = past(user.id, 1, "pending", due_at=due_at)
    sim.messaging.fail_later()
    add(user_id=user.id, target=None, kind="reminder", payload={"bell": "first"}, words=REMINDER, due_at=due_at)
    jobs.drain("urgent")
    hear_all(sim)
    missed.miss_overdue(local_time.now())
    assert db.session.get_one(Occurrence, dose.id, populate_existing=True).undelivered


# --- events about the service's own number ----------------------------------------------------------------------------


QUALITY = {"event": "FLAGGED", "current_limit": "TIER_250"}


def change(field, value):
    return {"entry": [{"time": 1, "changes": [{"field": field, "value": value}]}]}


EVENTS = [
    ("fonnte", webhooks.read_fonnte_device, {"device": "6281", "status": "disconnect"}, True),
    ("whatsapp_cloud", webhooks.read_whatsapp, change("account_update", {"event": "DISABLED_UPDATE"}), True),
    ("whatsapp_cloud", webhooks.read_whatsapp, change("phone_number_quality_update", QUALITY), True),
    ("whatsapp_cloud", webhooks.read_fonnte_device, {"device": "6281", "status": "disconnect"}, False),
]


def test_an_event_about_the_account_rings_the_check_of_the_sender(committed, sim, configure):
    for provider, reader, body, is_heard in EVENTS:
        configure(MESSAGING_PROVIDER=provider)
        with unit_of_work():
            db.session.execute(sa.delete(Inbound))
            for each in reader(body):
                row = Inbound(provider=each.provider, kind=each.kind, payload=dict(each.payload), event_key=each.key)
                db.session.add(row)
        inbox.handle()
        assert db.session.scalars(sa.select(Inbound.outcome)).all() == ["noted" if is_heard else "ignored"]
        assert connection().llen("rq:queue:bulk") == int(is_heard), (provider, body)
        connection().flushdb()
