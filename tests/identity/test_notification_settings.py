"""Notification settings. Several routes read and change the setting for broadcasts."""

import json
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from app.core.database.session import db
from app.identity import consents, notification_settings
from app.identity.consents import ConsentSource, Purpose
from tests.helpers.factories import make_user

JAKARTA, JAYAPURA = ZoneInfo("Asia/Jakarta"), ZoneInfo("Asia/Jayapura")


def test_switching_messages_does_not_change_push_or_quiet_hours(app):
    user = make_user()
    notification_settings.save(user.id, push=False, quiet_start=time(22), quiet_end=time(5))
    for on in (False, True):
        notification_settings.switch_messages(user.id, on)
        wishes = notification_settings.get(user.id)
        assert (wishes.messages, wishes.push, wishes.quiet_start, wishes.quiet_end) == (on, False, time(22), time(5))


@pytest.mark.parametrize(
    ("before", "off", "on"),
    [
        (None, {"broadcast": False}, {"broadcast": True}),
        ({"medical": True}, {"medical": True, "broadcast": False}, {"medical": True, "broadcast": True}),
        (["medical"], ["medical"], ["medical"]),
        ('{"islam": true}', '{"islam": true, "broadcast": false}', '{"islam": true, "broadcast": true}'),
        ("medical", "medical", "medical"),
    ],
    ids=["nothing", "object", "list", "JSON as text", "text"],
)
def test_switching_broadcasts_updates_the_consent_and_object_preferences(app, before, off, on):
    user = make_user(preferences=before)
    tags = list(user.preference_tags)
    for wanted, preferences in ((False, off), (True, on)):
        notification_settings.switch_broadcasts(user.id, wanted, way=ConsentSource.MESSAGE)
        db.session.refresh(user)
        assert (user.accepts_broadcasts, user.preferences, user.preference_tags) == (wanted, preferences, tags)
        consent = consents.current(user.id)[Purpose.BROADCASTS]
        assert (consent.granted, consent.way) == (wanted, "message")


def profile(client, user, preferences):
    body = client.as_(user).put("/profile", data={"preferences": json.dumps(preferences)}).ok()
    db.session.refresh(user)
    return body["preferences"]


def test_saving_preferences_without_broadcast_keeps_the_broadcast_opt_out(client, app):
    user = make_user(preferences={"medical": True})
    notification_settings.switch_broadcasts(user.id, False, way=ConsentSource.MESSAGE)
    assert profile(client, user, {"islam": True}) == {"islam": True, "broadcast": False}
    assert user.accepts_broadcasts is False
    assert profile(client, user, {"islam": True, "broadcast": True}) == {"islam": True, "broadcast": True}
    assert user.accepts_broadcasts is True


def test_a_broadcast_preference_in_the_profile_is_recorded_as_a_consent(client, app):
    user = make_user()
    profile(client, user, {"medical": True})
    assert consents.current(user.id) == {}
    profile(client, user, {"medical": True, "broadcast": False})
    consent = consents.current(user.id)[Purpose.BROADCASTS]
    assert (consent.granted, consent.way) == (False, "app")


#: Quiet hours, a moment, and the end of the quiet hours that the moment is in.
QUIET = [
    ("22:00", "05:00", "2026-03-02T21:59:59", None),
    ("22:00", "05:00", "2026-03-02T22:00:00", "2026-03-03T05:00:00"),
    ("22:00", "05:00", "2026-03-03T00:00:00", "2026-03-03T05:00:00"),
    ("22:00", "05:00", "2026-03-03T04:59:59", "2026-03-03T05:00:00"),
    ("22:00", "05:00", "2026-03-03T05:00:00", None),
    ("00:00", "23:59", "2026-03-03T12:00:00", "2026-03-03T23:59:00"),
    ("12:00", "13:00", "2026-03-03T12:30:00", "2026-03-03T13:00:00"),
    ("12:00", "13:00", "2026-03-03T11:30:00", None),
]


@pytest.mark.parametrize("zone", [JAKARTA, JAYAPURA], ids=str)
def test_quiet_hours_are_in_the_time_zone_of_the_person(zone):
    for start, end, now, ends in QUIET:
        moment = datetime.fromisoformat(now).replace(tzinfo=zone).astimezone(UTC)
        until = notification_settings.quiet_until(time.fromisoformat(start), time.fromisoformat(end), zone, moment)
        assert until == (datetime.fromisoformat(ends).replace(tzinfo=zone) if ends else None), (start, end, now)
