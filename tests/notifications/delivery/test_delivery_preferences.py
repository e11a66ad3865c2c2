"""Delivery preferences: channels and quiet hours."""

from datetime import timedelta
from threading import Condition
from zoneinfo import ZoneInfo

import pytest

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.identity import notification_settings
from app.notifications import jobs
from app.notifications.delivery.drain import Lane
from app.notifications.models import Channel, DeliveryState
from app.pengingat.models import LATE, Occurrence
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, age, reread

ZONES = {"Jawa Barat": "Asia/Jakarta", "Bali": "Asia/Makassar", "Papua": "Asia/Jayapura"}


@pytest.fixture
def user_id(committed):
    return person()


def person(domicile="Jawa Barat"):
    with unit_of_work():
        return make_user(domicile=domicile).id


def wish(user_id, **values):
    with unit_of_work():
        notification_settings.save(user_id, **values)


def quiet(user_id, zone="Asia/Jakarta"):
    """Set quiet hours from an hour ago to an hour from now. Return their end."""
    local = db_time.now().astimezone(ZoneInfo(zone)).replace(second=0, microsecond=0)
    start, end = local - timedelta(hours=1), local + timedelta(hours=1)
    wish(user_id, quiet_start=start.time(), quiet_end=end.time())
    return end


def noisy(user_id):
    """Set quiet hours that begin in an hour."""
    local = db_time.now().astimezone(ZoneInfo("Asia/Jakarta"))
    wish(user_id, quiet_start=(local + timedelta(hours=1)).time(), quiet_end=(local + timedelta(hours=2)).time())


def dose(user_id, *, tipe="obat", **occurrence):
    """Add an occurrence (one due time of a reminder) and its due message."""
    now = db_time.now()
    values = {"judul": "Obat", "slot": "0", "due_at": now, "day": now.date(), **occurrence}
    with unit_of_work():
        row = Occurrence(user_id=user_id, tipe=tipe, **values)
        db.session.add(row)
        db.session.flush()
    return add(
        kind="reminder",
        user_id=user_id,
        target=None,
        payload={"bell": "first"},
        words={"text": "Halo"},
        due_at=now,
        expires_at=now + LATE,
    )


def drained(row):
    jobs.drain("urgent")
    return reread(row.dedupe_key)


@pytest.mark.parametrize(("domicile", "zone"), ZONES.items())
def test_a_message_in_quiet_hours_waits_until_they_end(committed, gateway, domicile, zone):
    user_id = person(domicile)
    end = quiet(user_id, zone)
    row = drained(add(user_id=user_id, target=None, expires_at=db_time.now() + timedelta(days=1)))
    assert (row.state, row.next_try_at, row.attempts) == (DeliveryState.PENDING, end, 0)
    assert gateway.messaging.sent == []
    wish(user_id, quiet_start=None, quiet_end=None)
    age(3600, of=row)
    assert drained(row).state == DeliveryState.SENT


def test_quiet_hours_use_the_time_zone_of_the_persons_domicile(committed, gateway):
    user_id = person("Papua")
    quiet(user_id, "Asia/Jakarta")
    assert drained(add(user_id=user_id, target=None)).state == DeliveryState.SENT


def test_a_message_outside_quiet_hours_is_sent(user_id, gateway):
    noisy(user_id)
    assert drained(add(user_id=user_id, target=None)).state == DeliveryState.SENT


TIPES = ("obat", "makan", "terapi", "kontrol")


@pytest.mark.parametrize("tipe", TIPES)
def test_a_reminder_of_any_type_is_sent_in_quiet_hours(user_id, gateway, tipe):
    quiet(user_id)
    assert drained(dose(user_id, tipe=tipe)).state == DeliveryState.SENT


@pytest.mark.parametrize("tipe", TIPES)
def test_a_snoozed_reminder_is_sent_in_quiet_hours(user_id, gateway, tipe):
    quiet(user_id)
    now = db_time.now()
    row = dose(user_id, tipe=tipe, due_at=now - timedelta(minutes=30), snoozed_until=now)
    assert drained(row).state == DeliveryState.SENT


def test_a_repeated_reminder_of_a_dose_is_sent_in_quiet_hours(user_id, gateway):
    quiet(user_id)
    row = dose(user_id, due_at=db_time.now() - timedelta(minutes=20))
    assert drained(row).state == DeliveryState.SENT


def test_a_reminder_whose_first_attempt_failed_is_retried_in_quiet_hours(user_id, gateway):
    row = dose(user_id, tipe="makan")
    gateway.fault("messaging", "status", status=500)
    assert drained(row).state == DeliveryState.PENDING
    quiet(user_id)
    age(60, of=row)
    assert drained(row).state == DeliveryState.SENT


@pytest.mark.parametrize("kind", ["stock", "forum_reply", "moderation"])
def test_a_notification_does_not_expire_during_quiet_hours(user_id, gateway, kind):
    end = quiet(user_id)
    expires_at = db_time.now() + timedelta(minutes=30)
    row = drained(add(user_id=user_id, target=None, kind=kind, expires_at=expires_at))
    assert (row.state, row.next_try_at) == (DeliveryState.PENDING, end)
    noisy(user_id)
    age((end - db_time.now()).total_seconds() + 60, of=row)
    assert drained(row).state == DeliveryState.SENT


def test_quiet_hours_do_not_change_an_expiry_after_their_end(user_id, gateway):
    quiet(user_id)
    expires_at = db_time.now() + timedelta(hours=24)
    assert drained(add(user_id=user_id, target=None, expires_at=expires_at)).expires_at == expires_at


def test_queued_deliveries_of_a_switched_off_channel_are_cancelled(user_id, gateway):
    message = add(user_id=user_id, target=None)
    push = add(user_id=user_id, target=None, channel=Channel.PUSH_FAN_OUT)
    wish(user_id, messages=False, push=False)
    for row in (message, push):
        row = drained(row)
        assert (row.state, row.last_error) == (DeliveryState.CANCELLED, "switched off")
    assert gateway.messaging.sent == []


def test_a_push_after_its_fan_out_is_cancelled_if_pushes_are_switched_off(user_id, gateway):
    wish(user_id, push=False)
    assert drained(add(user_id=user_id, target="1", channel=Channel.PUSH)).state == DeliveryState.CANCELLED


def test_a_message_is_sent_although_pushes_are_switched_off(user_id, gateway):
    wish(user_id, push=False)
    assert drained(add(user_id=user_id, target=None)).state == DeliveryState.SENT


def test_a_channel_that_is_switched_on_again_gets_its_queued_reminder(user_id, gateway):
    row = dose(user_id)
    wish(user_id, messages=False)
    wish(user_id, messages=True)
    assert drained(row).state == DeliveryState.SENT


def test_switching_off_a_channel_during_a_drain_cancels_the_remaining_messages(user_id, gateway):
    rows = [add(user_id=user_id, target=None) for _ in range(3)]
    lane = Lane("urgent", Channel.MESSAGING, Condition(), threads=1)
    while delivery := lane.next():
        lane.handle(delivery)
        wish(user_id, messages=False)
    states = sorted(reread(row.dedupe_key).state for row in rows)
    assert states == [DeliveryState.CANCELLED, DeliveryState.CANCELLED, DeliveryState.SENT]
    assert len(gateway.messaging.sent) == 1


@pytest.mark.parametrize("kind", ["password_reset", "security_notice"])
def test_essential_messages_ignore_quiet_hours_and_switched_off_channels(user_id, gateway, kind):
    quiet(user_id)
    wish(user_id, messages=False)
    assert drained(add(user_id=user_id, target=None, kind=kind)).state == DeliveryState.SENT
