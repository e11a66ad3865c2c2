"""Schedule of a reminder: daily or weekly wall times in a time zone, or one single moment. No database is used.

A wall time is a time of day as clocks show it. It stays the same when summer time begins or ends. If the clocks skip a
wall time, the next valid minute is used. If the clocks show a wall time twice, only the first moment is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

#: Notices before a doctor's appointment (`kontrol`), with the time between notice and appointment.
OFFSETS = {"1h": timedelta(hours=1), "1d": timedelta(days=1)}
AT_ONCE = "0"

WEEKDAYS = ("senin", "selasa", "rabu", "kamis", "jumat", "sabtu", "minggu")

#: Margin when a local date is compared with a moment in UTC. It is safe, because no zone has skipped more than one day.
MARGIN = timedelta(days=2)
DAY = timedelta(days=1)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
#: How long before an occurrence (a due time) the person can already answer it.
AHEAD = timedelta(minutes=60)


@dataclass(frozen=True, order=True)
class Due:
    """Due time of a reminder: the moment `at` of its message, and the moment `occurrence` that the message is about.

    The two moments differ only for notices before an appointment. `slot` is the name of the dose, meal, session or
    notice.
    """

    at: datetime
    occurrence: datetime
    slot: str


@dataclass(frozen=True)
class Slot:
    """Wall time that repeats daily, or weekly if `weekday` is set. Weekday 0 is Monday."""

    name: str
    time: time
    weekday: int | None = None


class ActivePeriod(NamedTuple):
    """Slot with the first and last day of its use, both included."""

    slot: Slot
    first: date
    last: date


@dataclass(frozen=True)
class Temporary:
    """Slots that replace the normal slots from the day `first` to the day `last`, both included."""

    first: date
    last: date
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Schedule:
    """Times of a reminder: either repeating `slots`, or one moment `single_at`.

    Slots are used from the day `first` to the day `last`. `lead_offsets` are the names of notices before `single_at`.
    """

    zone: ZoneInfo
    slots: tuple[Slot, ...] = ()
    single_at: datetime | None = None
    lead_offsets: tuple[str, ...] = ()
    first: date = date.min
    last: date = date.max
    temporary: Temporary | None = None

    @property
    def repeats(self) -> bool:
        return self.single_at is None

    def dues(self, after: datetime, until: datetime) -> list[Due]:
        """Return all due times later than `after` and not later than `until`, in order."""
        if self.single_at is not None:
            return [due for due in sorted(self._single()) if after < due.at <= until]
        found = {
            Due(moment, moment, period.slot.name)
            for period in self.active_periods()
            for moment in takewhile(lambda moment: moment <= until, self._moments(period, after, until))
        }
        return sorted(found)

    def next_occurrence(self, after: datetime) -> datetime | None:
        """Return the moment of the first occurrence later than `after`, or None if there is none."""
        if self.single_at is not None:
            return self.single_at if self.single_at > after else None
        firsts = (next(self._moments(period, after), None) for period in self.active_periods())
        return min((moment for moment in firsts if moment is not None), default=None)

    def has_slot(self, name: str) -> bool:
        """Return whether the schedule has a slot, or a notice before `single_at`, with this name."""
        if self.single_at is not None:
            return name in (self.lead_offsets or (AT_ONCE,))
        return any(slot.name == name for slot in (*self.slots, *(self.temporary.slots if self.temporary else ())))

    def is_over(self, now: datetime) -> bool:
        """Return whether there is no due time after `now`."""
        if self.single_at is not None:
            return all(due.at <= now for due in self._single())
        return self.next_occurrence(now) is None

    def active_periods(self) -> Iterator[ActivePeriod]:
        """Return each slot with its first and last day.

        A normal slot may be returned twice: for the days before and for the days after a temporary schedule.
        """
        temporary = self.temporary
        if temporary is None:
            parts = [(self.slots, self.first, self.last)]
        else:
            parts = [
                (self.slots, self.first, min(self.last, temporary.first - DAY)),
                (temporary.slots, max(self.first, temporary.first), min(self.last, temporary.last)),
                (self.slots, max(self.first, temporary.last + DAY), self.last),
            ]
        return (ActivePeriod(slot, first, last) for slots, first, last in parts if first <= last for slot in slots)

    def _single(self) -> list[Due]:
        assert self.single_at is not None  # noqa: S101  # both callers check it
        if not self.lead_offsets:
            return [Due(self.single_at, self.single_at, AT_ONCE)]
        return [Due(self.single_at - OFFSETS[name], self.single_at, name) for name in self.lead_offsets]

    def _moments(self, period: ActivePeriod, after: datetime, until: datetime | None = None) -> Iterator[datetime]:
        """Yield the moments of a slot later than `after`, in order.

        The last moments may be up to two days later than `until`, and the caller must skip them.
        """
        slot = period.slot
        day = max(period.first, (after - MARGIN).astimezone(self.zone).date())
        last = period.last if until is None else min(period.last, (until + MARGIN).astimezone(self.zone).date())
        seen = after
        while day <= last:
            if slot.weekday is None or day.weekday() == slot.weekday:
                moment = moment_of(day, slot.time, self.zone)
                # If the zone skipped this day, `moment_of` returns the start of the next day. Do not yield the same
                # moment twice.
                if moment > seen:
                    seen = moment
                    yield moment
            day += DAY


@lru_cache(maxsize=4096)
def moment_of(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """Return the moment, in UTC, at which the clocks of this time zone show this time on this day.

    If the clocks show the time twice, return the first moment. If the clocks skip it, return the next valid minute.
    """
    local = datetime.combine(day, wall, zone)
    moment = local.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    # The clocks skip this time. The skip is between the moments for fold 0 and fold 1. Find the skip by bisection.
    low, high = sorted((moment, local.replace(fold=1).astimezone(UTC)))
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high


def wall_time(jam: str, zone: ZoneInfo, now: datetime) -> time:
    """Convert a time `HH:MM` in UTC into a wall time, with the offset that the zone has on the day of `now`."""
    hour, minute = map(int, jam.split(":"))
    moment = now.astimezone(UTC).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return moment.astimezone(zone).time().replace(second=0)
