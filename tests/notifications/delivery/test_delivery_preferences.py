"""Delivery preferences: channels and quiet hours."""

from datetime import timedelta
from threading import Condition
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.identity import notification_settings
from app.identity.models import User
from app.notifications import jobs
from app.notifications.delivery.drain import Lane
from app.notifications.models import Channel, DeliveryState
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, age, drained, reread


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


def test_a_message_waits_until_the_end_of_quiet_hours_in_the_zone_of_the_persons_domicile(committed, gateway):
    ends = {}
    for domicile, zone in {"Jawa Barat": "Asia/Jakarta", "Bali": "Asia/Makassar", "Papua": "Asia/Jayapura"}.items():
        user_id = person(domicile)
        end = quiet(user_id, zone)
        ends[add(user_id=user_id, target=None, expires_at=db_time.now() + timedelta(days=1)).dedupe_key] = end
    elsewhere, awake = person("Papua"), person()
    quiet(elsewhere, "Asia/Jakarta")
    noisy(awake)
    sent = [add(user_id=user_id, target=None).dedupe_key for user_id in (elsewhere, awake)]
    jobs.drain("urgent")
    for key, end in ends.items():
        row = reread(key)
        assert (row.state, row.next_try_at, row.attempts) == (DeliveryState.PENDING, end, 0)
    assert {reread(key).state for key in sent} == {DeliveryState.SENT}
    assert len(gateway.messaging.sent) == 2


def test_a_notification_does_not_expire_during_quiet_hours(user_id, gateway):
    end = quiet(user_id)
    expires_at = db_time.now() + timedelta(minutes=30)
    row = drained(add(user_id=user_id, target=None, kind="stock", expires_at=expires_at))
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


def test_switched_off_pushes_cancel_a_push_after_its_fan_out_and_no_message(user_id, gateway):
    wish(user_id, push=False)
    push, message = add(user_id=user_id, target="1", channel=Channel.PUSH), add(user_id=user_id, target=None)
    assert (drained(push).state, reread(message.dedupe_key).state) == (DeliveryState.CANCELLED, DeliveryState.SENT)


def test_a_channel_that_is_switched_on_again_gets_its_queued_reminder(user_id, gateway):
    row = add(kind="reminder", user_id=user_id, target=None)
    wish(user_id, messages=False)
    wish(user_id, messages=True)
    assert drained(row).state == DeliveryState.SENT


def test_a_person_who_has_requested_erasure_gets_no_message_until_the_request_is_cancelled(user_id, gateway):
    for due_at, state in ((sa.func.now(), DeliveryState.CANCELLED), (None, DeliveryState.SENT)):
        with unit_of_work():
            db.session.execute(sa.update(User).values(erasure_due_at=due_at))
        assert drained(add(user_id=user_id, target=None)).state == state


def test_switching_off_a_channel_during_a_drain_cancels_the_remaining_messages(user_id, gateway):
    rows = [add(user_id=user_id, target=None) for _ in range(3)]
    lane = Lane("urgent", Channel.MESSAGING, Condition(), threads=1)
    while delivery := lane.next():
        lane.handle(delivery)
        wish(user_id, messages=False)
    states = sorted(reread(row.dedupe_key).state for row in rows)
    assert states == [DeliveryState.CANCELLED, DeliveryState.CANCELLED, DeliveryState.SENT]
    assert len(gateway.messaging.sent) == 1


def test_quiet_hours_never_hold_a_reminder_and_essential_messages_ignore_all_preferences(user_id, gateway):
    quiet(user_id)
    assert drained(add(user_id=user_id, target=None, kind="reminder")).state == DeliveryState.SENT
    wish(user_id, messages=False)
    for kind in ("password_reset", "security_notice"):
        assert drained(add(user_id=user_id, target=None, kind=kind)).state == DeliveryState.SENT, kind
