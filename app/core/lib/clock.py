"""The time, in one place, so that a test can set it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

#: Days in queries, statistics and file names are days of this zone.
JAKARTA = ZoneInfo("Asia/Jakarta")

MONTHS = (
    "Januari", "Februari", "Maret", "April", "Mei", "Juni",
    "Juli", "Agustus", "September", "Oktober", "November", "Desember",
)  # fmt: skip


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)  # noqa: TID251  # the one place


def today() -> date:
    """The present day in Jakarta."""
    return now().astimezone(JAKARTA).date()


def midnight(day: date) -> datetime:
    """The moment at which a day begins in Jakarta."""
    return datetime.combine(day, time(), JAKARTA)


def day_text(day: date) -> str:
    """`2 Maret 2026`, as people write it."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def rfc3339(moment: datetime) -> str:
    """`2026-03-02T00:00:00Z`: an aware moment in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
