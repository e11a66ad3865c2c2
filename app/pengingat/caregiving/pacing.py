"""When a caregiver is told of what a patient missed: not at night, not one by one, and not without end. Pure functions.

The first alert leaves at once. What follows within two hours leaves together when they end. After six messages of a day
the rest waits for one digest in the evening.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.identity import notification_settings
from app.pengingat.models import Way
from app.pengingat.timetable.schedule import DAY, moment_of

WINDOW = timedelta(hours=2)
MOST_A_DAY = 6
#: Times of day in the caregiver's zone.
DIGEST_AT = time(20)
NIGHT_FROM, NIGHT_TO = time(21), time(6)


@dataclass(frozen=True)
class Told:
    """What one caregiver has been told of one patient."""

    #: When the last alert left that left at once; None: none did lately.
    at_once_at: datetime | None = None
    #: Messages of the caregiver's day, follow-ups and the digest apart.
    messages: int = 0
    has_digest: bool = False


def night_until(zone: ZoneInfo, now: datetime) -> datetime | None:
    """When the night ends in which only what is important leaves; None by day."""
    return notification_settings.quiet_until(NIGHT_FROM, NIGHT_TO, zone, now)


def midnight(zone: ZoneInfo, now: datetime) -> datetime:
    """When the day began."""
    return moment_of(now.astimezone(zone).date(), time(), zone)


def next_step(told: Told, since: datetime, zone: ZoneInfo, now: datetime) -> Way | datetime:
    """How what waits since a moment leaves now; or when to look again."""
    today = now.astimezone(zone).date()
    if told.messages >= MOST_A_DAY:
        digest_at = moment_of(today, DIGEST_AT, zone)
        if now < digest_at:
            return digest_at
        return moment_of(today + DAY, time(), zone) if told.has_digest else Way.DIGEST
    ends = told.at_once_at + WINDOW if told.at_once_at else since
    if now < ends:
        return ends
    return Way.TOGETHER if since < ends else Way.AT_ONCE
