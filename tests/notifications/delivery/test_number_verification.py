"""Messages that are sent only to verified phone numbers, in each mode of PHONE_VERIFICATION."""

from dataclasses import replace

import pytest

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity.models import User
from app.notifications.broadcasts import fan_out
from app.notifications.delivery import number_verification
from app.notifications.models import Channel, DeliveryState
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import bells, stock
from tests.helpers.factories import make_user
from tests.notifications.broadcasts.announcing import announce, recipients
from tests.notifications.deliveries import add, drained, reread

#: Kinds of messages that are not sent to an unverified number, by mode.
HELD = {"off": set(), "soft": {"broadcast", "alert"}, "required": {"broadcast", "alert", "reminder", "stock"}}
KINDS = ("broadcast", "alert", "reminder", "stock", "password_reset", "security_notice", "forum_reply", "answer")


@pytest.fixture
def mode(change_settings):
    return lambda value: change_settings(phone_verification=value, broadcast_delay_seconds=(0, 0))


def person(*, is_proven):
    with unit_of_work():
        user = make_user()
        prove(user, is_proven)
        return user.id


def prove(user, is_proven):
    user.phone_verified_at = local_time.now() if is_proven else None
    db.session.flush()


def add_kind(kind, user_id):
    """Add a message of this kind, and return its dedupe key."""
    today = db_time.now().astimezone(local_time.JAKARTA).date()
    payload = {"day": today.isoformat()} if kind == "broadcast" else {}
    return add(kind=kind, user_id=user_id, target=None, payload=payload, words={"text": "Halo"}).dedupe_key


def test_only_broadcasts_alerts_reminders_and_stock_need_a_verified_number():
    assert {fan_out.KIND, alerts.KIND, bells.KIND, stock.KIND} == number_verification.REQUIRED


@pytest.mark.parametrize("name", HELD)
def test_each_mode_cancels_its_kinds_of_messages_to_unverified_numbers(committed, gateway, mode, monkeypatch, name):
    mode(name)
    monkeypatch.setitem(committed.extensions, "routing", replace(committed.extensions["routing"], checks={}))
    proven, unproven = person(is_proven=True), person(is_proven=False)
    keys = {(kind, user_id): add_kind(kind, user_id) for kind in KINDS for user_id in (proven, unproven)}
    push = add(kind="reminder", channel=Channel.PUSH_FAN_OUT, user_id=unproven, target=None)
    assert drained(push).state == DeliveryState.SENT  # sent, although the person has no browser
    rows = {sent: reread(key) for sent, key in keys.items()}
    cancelled = {sent for sent, row in rows.items() if row.state == DeliveryState.CANCELLED}
    assert cancelled == {(kind, unproven) for kind in HELD[name]}
    assert {row.state for sent, row in rows.items() if sent not in cancelled} == {DeliveryState.SENT}
    assert {rows[sent].last_error for sent in cancelled} == ({number_verification.UNPROVEN} if cancelled else set())
    assert len(gateway.messaging.sent) == len(rows) - len(cancelled)


def test_a_number_is_checked_when_a_message_is_sent(committed, gateway, mode):
    """The number's state at the time of sending counts, and not its state when the message was planned."""
    mode("required")
    for is_proven, state in ((True, DeliveryState.SENT), (False, DeliveryState.CANCELLED)):
        user_id = person(is_proven=not is_proven)
        row = add(kind="reminder", user_id=user_id, target=None)
        with unit_of_work():
            prove(db.session.get_one(User, user_id), is_proven)
        assert drained(row).state == state


@pytest.mark.parametrize(("name", "expected"), [("off", {"proven", "unproven"}), ("soft", {"proven"})])
def test_a_broadcast_excludes_unverified_numbers_in_soft_mode(committed, mode, name, expected):
    mode(name)
    people = {"proven": person(is_proven=True), "unproven": person(is_proven=False)}
    fan_out.fan_out(announce())
    assert recipients() == {people[each] for each in expected}
