"""The current time of this machine. No other module may read the clock, so tests replace `now` only here."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

#: Timezone that defines a day in queries, statistics and file names.
JAKARTA = ZoneInfo("Asia/Jakarta")

DAYS = ("Senin", "Selasa", "Rabu", "Kamis", "Jumat", "Sabtu", "Minggu")
MONTHS = (
    "Januari", "Februari", "Maret", "April", "Mei", "Juni",
    "Juli", "Agustus", "September", "Oktober", "November", "Desember",
)  # fmt: skip


def now() -> datetime:
    """Return the current time in UTC, timezone-aware."""
    return datetime.now(UTC)  # noqa: TID251  # the only place that may read the clock


def today() -> date:
    """Return the current date in Jakarta."""
    return now().astimezone(JAKARTA).date()


def midnight(day: date) -> datetime:
    """Return the start of a day in Jakarta as a timezone-aware time."""
    return datetime.combine(day, time(), JAKARTA)


def day_text(day: date) -> str:
    """Return the date in Indonesian, such as `2 Maret 2026`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def calendar_day(day: date) -> str:
    """Return the date in Indonesian with its weekday, such as `Selasa, 10 Maret 2026`."""
    return f"{DAYS[day.weekday()]}, {day_text(day)}"


def clock_time(moment: datetime) -> str:
    """Return the time of day with its time zone, such as `07.00 WIB` or `07.00 UTC+03`."""
    zone = moment.tzname() or ""
    if not zone.isalpha():
        offset = moment.strftime("%z")
        zone = f"UTC{offset[:3]}" + (f":{offset[3:5]}" if offset[3:5] != "00" else "")
    return f"{moment:%H.%M} {zone}"


def rfc3339(moment: datetime) -> str:
    """Return the time in UTC as `2026-03-02T00:00:00Z`, without fractions of a second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
