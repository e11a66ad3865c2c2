"""When a reminder is due: wall times of a zone, daily or weekly, or one moment. Pure functions, no database.

A repeated wall time stays the same for the person, whatever their zone does: in a spring gap it is the next valid
minute, in an autumn overlap it comes once, the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NotRequired, Self, TypedDict
from zoneinfo import ZoneInfo

#: What a control visit may be reminded by, and how long before it.
OFFSETS = {"1h": timedelta(hours=1), "1d": timedelta(days=1)}
AT_ONCE = "0"

WEEKDAYS = ("senin", "selasa", "rabu", "kamis", "jumat", "sabtu", "minggu")

#: No zone has ever skipped more than a day, nor do offsets differ by more.
MARGIN = timedelta(days=2)
WEEK = timedelta(days=7)
#: Who says "done" in the last hour before an occurrence means that one.
AHEAD = timedelta(minutes=60)


@dataclass(frozen=True, order=True)
class Due:
    """A moment to remind at; `occurrence` is what it reminds of, `slot` which dose, meal, session or offset it is."""

    at: datetime
    occurrence: datetime
    slot: str


class PlannedSlot(TypedDict):
    name: str
    time: str
    weekday: int | None


class Plan(TypedDict):
    """A schedule as JSON: `once` and `before`, or `slots`."""

    once: NotRequired[str]
    before: NotRequired[list[str]]
    slots: NotRequired[list[PlannedSlot]]


@dataclass(frozen=True)
class Slot:
    """A wall time that returns daily, or weekly on `weekday` (0 is Monday)."""

    name: str
    time: time
    weekday: int | None = None


@dataclass(frozen=True)
class Schedule:
    """Either slots that return for ever in `zone`, or one moment `once` with reminders `before` it."""

    zone: ZoneInfo
    slots: tuple[Slot, ...] = ()
    once: datetime | None = None
    before: tuple[str, ...] = ()

    @property
    def repeats(self) -> bool:
        return self.once is None

    def dues(self, after: datetime, until: datetime) -> list[Due]:
        """All dues after `after`, up to and including `until`, in order."""
        if self.once is not None:
            return [due for due in sorted(self._single()) if after < due.at <= until]
        return sorted(
            Due(moment, moment, slot.name) for slot in self.slots for moment in self._moments(slot, after, until)
        )

    def next_occurrence(self, after: datetime) -> datetime | None:
        """The first occurrence after a moment; None when there is none."""
        if self.once is not None:
            return self.once if self.once > after else None
        # A daily slot is found at once; twice around the week, for a slot that a zone's change of day swallowed once.
        for ahead in (MARGIN, 2 * WEEK + MARGIN):
            if dues := self.dues(after, after + ahead):
                return dues[0].occurrence
        return None

    def current_occurrence(self, since: datetime, now: datetime) -> datetime | None:
        """What a person means who says "done": the last one that fell due, before the first one that one.

        The coming one instead where it is less than an hour away, and nearer than the last.
        """
        if self.once is not None:
            return self.once
        coming = self.next_occurrence(now)
        past = self.dues(max(since, now - WEEK - MARGIN), now)
        if not past or coming is None:
            return past[-1].occurrence if past else coming
        last = past[-1].occurrence
        return coming if coming - now < min(AHEAD, now - last) else last

    def is_over(self, now: datetime) -> bool:
        """Whether nothing is due any more after `now`."""
        return self.once is not None and all(due.at <= now for due in self._single())

    def _single(self) -> list[Due]:
        assert self.once is not None  # noqa: S101  # both callers looked
        if not self.before:
            return [Due(self.once, self.once, AT_ONCE)]
        return [Due(self.once - OFFSETS[name], self.once, name) for name in self.before]

    def _moments(self, slot: Slot, after: datetime, until: datetime) -> Iterator[datetime]:
        day = (after - MARGIN).astimezone(self.zone).date()
        last = (until + MARGIN).astimezone(self.zone).date()
        seen: datetime | None = None
        while day <= last:
            if slot.weekday is None or day.weekday() == slot.weekday:
                moment = moment_of(day, slot.time, self.zone)
                # A day that a zone skipped ends where the next begins: its occurrence is that day's.
                if after < moment <= until and moment != seen:
                    seen = moment
                    yield moment
            day += timedelta(days=1)

    def as_json(self) -> Plan:
        if self.once is not None:
            return {"once": self.once.astimezone(UTC).isoformat(), "before": list(self.before)}
        return {
            "slots": [
                {"name": slot.name, "time": slot.time.isoformat("minutes"), "weekday": slot.weekday}
                for slot in self.slots
            ]
        }

    @classmethod
    def from_json(cls, plan: Plan, zone: ZoneInfo) -> Self:
        if "once" in plan:
            return cls(zone, once=datetime.fromisoformat(plan["once"]), before=tuple(plan["before"]))
        slots = (Slot(row["name"], time.fromisoformat(row["time"]), row["weekday"]) for row in plan["slots"])
        return cls(zone, slots=tuple(slots))


def moment_of(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """The moment, in UTC, at which the zone's clocks show this time on this day; the first of two, else the next."""
    local = datetime.combine(day, wall, zone)
    moment = local.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    # The clocks jump over it. With `fold` the two readings lie on either side of the jump: halve down to its minute.
    low, high = sorted((moment, local.replace(fold=1).astimezone(UTC)))
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high


def wall_time(jam: str, zone: ZoneInfo, now: datetime) -> time:
    """A time of day in UTC, as the client sends it, as the wall time that it means in the zone these days."""
    hour, minute = map(int, jam.split(":"))
    moment = now.astimezone(UTC).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return moment.astimezone(zone).time().replace(second=0)
