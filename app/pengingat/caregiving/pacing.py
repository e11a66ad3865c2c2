"""Rules for when an alert about a missed reminder is sent to a caregiver. All functions are pure.

The first alert is sent at once. Alerts of the next two hours are sent together when the two hours end. After six
messages on one day, further alerts wait, and are sent as one digest at 20.00. Alerts after the digest wait until the
next day. At night, only important alerts are sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.identity import notification_settings
from app.pengingat.models import AlertMode
from app.pengingat.timetable.schedule import DAY, moment_of

#: Time after an alert during which further alerts are collected for one message.
WINDOW = timedelta(hours=2)
#: Number of messages per day to a caregiver about one patient. After these messages, alerts wait for the digest.
MAX_PER_DAY = 6
#: Time of the daily digest, and start and end of the night, in the caregiver's time zone.
DIGEST_AT = time(20)
NIGHT_FROM, NIGHT_TO = time(21), time(6)


@dataclass(frozen=True)
class AlertHistory:
    """Alerts that one caregiver has received about one patient."""

    #: Time of the last `AlertMode.AT_ONCE` alert. None if no such alert was sent recently.
    at_once_at: datetime | None = None
    #: Number of messages since the most recent midnight in the caregiver's time zone. Corrections and the digest do not
    #: count.
    messages: int = 0
    has_digest: bool = False


def night_until(zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the time at which the current night ends, or None during the day."""
    return notification_settings.quiet_until(NIGHT_FROM, NIGHT_TO, zone, now)


def midnight(zone: ZoneInfo, now: datetime) -> datetime:
    """Return the moment of the most recent midnight in this time zone."""
    return moment_of(now.astimezone(zone).date(), time(), zone)


def next_step(history: AlertHistory, since: datetime, zone: ZoneInfo, now: datetime) -> AlertMode | datetime:
    """Return how to send the unsent alerts, or the moment at which to check again.

    `since` is the creation time of the oldest unsent alert.
    """
    today = now.astimezone(zone).date()
    if history.messages >= MAX_PER_DAY:
        digest_at = moment_of(today, DIGEST_AT, zone)
        if now < digest_at:
            return digest_at
        return moment_of(today + DAY, time(), zone) if history.has_digest else AlertMode.DIGEST
    ends = history.at_once_at + WINDOW if history.at_once_at else since
    if now < ends:
        return ends
    return AlertMode.TOGETHER if since < ends else AlertMode.AT_ONCE
