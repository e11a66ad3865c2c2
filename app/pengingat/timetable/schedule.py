"""When a reminder is due: wall times of a zone, daily or weekly, or one moment. Pure functions, no database.

A repeated wall time stays the same for the person, whatever their zone does: in a spring gap it is the next valid
minute, in an autumn overlap it comes once, the first time. It may hold on some days only, and other times may stand in
its place on some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, NotRequired, Self, TypedDict
from zoneinfo import ZoneInfo

#: What a control visit may be reminded by, and how long before it.
OFFSETS = {"1h": timedelta(hours=1), "1d": timedelta(days=1)}
AT_ONCE = "0"

WEEKDAYS = ("senin", "selasa", "rabu", "kamis", "jumat", "sabtu", "minggu")

#: No zone has ever skipped more than a day, nor do offsets differ by more.
MARGIN = timedelta(days=2)
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
#: A moment that is never reached.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
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


class PlannedTemporary(TypedDict):
    first: str
    last: str
    slots: list[PlannedSlot]


class Plan(TypedDict):
    """A schedule as JSON: `once` and `before`, or `slots` and the days that they hold on."""

    once: NotRequired[str]
    before: NotRequired[list[str]]
    slots: NotRequired[list[PlannedSlot]]
    first: NotRequired[str]
    last: NotRequired[str]
    temporary: NotRequired[PlannedTemporary]


@dataclass(frozen=True)
class Slot:
    """A wall time that returns daily, or weekly on `weekday` (0 is Monday)."""

    name: str
    time: time
    weekday: int | None = None

    def as_json(self) -> PlannedSlot:
        return {"name": self.name, "time": self.time.isoformat("minutes"), "weekday": self.weekday}

    @classmethod
    def from_json(cls, planned: PlannedSlot) -> Self:
        return cls(planned["name"], time.fromisoformat(planned["time"]), planned["weekday"])


class Stretch(NamedTuple):
    """A slot and days that it holds on, both included."""

    slot: Slot
    first: date
    last: date


@dataclass(frozen=True)
class Temporary:
    """Slots that stand in the place of the others from the `first` day to the `last`, both included."""

    first: date
    last: date
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Schedule:
    """Either slots that return in `zone` from the `first` day to the `last`, or for ever; or one moment `once` with
    reminders `before` it."""

    zone: ZoneInfo
    slots: tuple[Slot, ...] = ()
    once: datetime | None = None
    before: tuple[str, ...] = ()
    first: date = date.min
    last: date = date.max
    temporary: Temporary | None = None

    @property
    def repeats(self) -> bool:
        return self.once is None

    def dues(self, after: datetime, until: datetime) -> list[Due]:
        """All dues after `after`, up to and including `until`, in order."""
        if self.once is not None:
            return [due for due in sorted(self._single()) if after < due.at <= until]
        found = {
            Due(moment, moment, stretch.slot.name)
            for stretch in self.stretches()
            for moment in takewhile(lambda moment: moment <= until, self._moments(stretch, after, until))
        }
        return sorted(found)

    def next_occurrence(self, after: datetime) -> datetime | None:
        """The first occurrence after a moment; None when there is none."""
        if self.once is not None:
            return self.once if self.once > after else None
        firsts = (next(self._moments(stretch, after), None) for stretch in self.stretches())
        return min((moment for moment in firsts if moment is not None), default=None)

    def current_occurrence(self, since: datetime, now: datetime) -> datetime | None:
        """What a person means who says "done": the last one that fell due, before the first one that one.

        The coming one instead where it is less than an hour away, and nearer than the last.
        """
        if self.once is not None:
            return self.once
        coming = self.next_occurrence(now)
        # A daily schedule has an occurrence within two days. To list a whole week takes a third of an answer's time.
        past = self.dues(max(since, now - 2 * DAY), now) or self.dues(max(since, now - WEEK - MARGIN), now)
        if not past or coming is None:
            return past[-1].occurrence if past else coming
        last = past[-1].occurrence
        return coming if coming - now < min(AHEAD, now - last) else last

    def occurs_on(self, day: date) -> bool:
        """Whether an occurrence falls on a day of the schedule's zone, or would without a gap of its clocks."""
        if self.once is not None:
            return self.once.astimezone(self.zone).date() == day
        return any(
            stretch.first <= day <= stretch.last and stretch.slot.weekday in (None, day.weekday())
            for stretch in self.stretches()
        )

    def is_over(self, now: datetime) -> bool:
        """Whether nothing is due any more after `now`."""
        if self.once is not None:
            return all(due.at <= now for due in self._single())
        return self.next_occurrence(now) is None

    def stretches(self) -> Iterator[Stretch]:
        """The slots, each with days that it holds on."""
        temporary = self.temporary
        if temporary is None:
            parts = [(self.slots, self.first, self.last)]
        else:
            parts = [
                (self.slots, self.first, min(self.last, temporary.first - DAY)),
                (temporary.slots, max(self.first, temporary.first), min(self.last, temporary.last)),
                (self.slots, max(self.first, temporary.last + DAY), self.last),
            ]
        return (Stretch(slot, first, last) for slots, first, last in parts if first <= last for slot in slots)

    def _single(self) -> list[Due]:
        assert self.once is not None  # noqa: S101  # both callers looked
        if not self.before:
            return [Due(self.once, self.once, AT_ONCE)]
        return [Due(self.once - OFFSETS[name], self.once, name) for name in self.before]

    def _moments(self, stretch: Stretch, after: datetime, until: datetime | None = None) -> Iterator[datetime]:
        """When a slot comes after a moment, in order; with `until` nothing far beyond that."""
        slot = stretch.slot
        day = max(stretch.first, (after - MARGIN).astimezone(self.zone).date())
        last = stretch.last if until is None else min(stretch.last, (until + MARGIN).astimezone(self.zone).date())
        seen = after
        while day <= last:
            if slot.weekday is None or day.weekday() == slot.weekday:
                moment = moment_of(day, slot.time, self.zone)
                # A day that a zone skipped ends where the next begins: its occurrence is that day's.
                if moment > seen:
                    seen = moment
                    yield moment
            day += DAY

    def as_json(self) -> Plan:
        if self.once is not None:
            return {"once": self.once.astimezone(UTC).isoformat(), "before": list(self.before)}
        plan: Plan = {"slots": [slot.as_json() for slot in self.slots]}
        if self.first != date.min:
            plan["first"] = self.first.isoformat()
        if self.last != date.max:
            plan["last"] = self.last.isoformat()
        if self.temporary is not None:
            plan["temporary"] = {
                "first": self.temporary.first.isoformat(),
                "last": self.temporary.last.isoformat(),
                "slots": [slot.as_json() for slot in self.temporary.slots],
            }
        return plan

    @classmethod
    def from_json(cls, plan: Plan, zone: ZoneInfo) -> Self:
        if "once" in plan:
            return cls(zone, once=datetime.fromisoformat(plan["once"]), before=tuple(plan["before"]))
        return cls(
            zone,
            slots=_slots(plan["slots"]),
            first=_day(plan.get("first"), date.min),
            last=_day(plan.get("last"), date.max),
            temporary=_temporary(plan.get("temporary")),
        )


def _slots(planned: Iterable[PlannedSlot]) -> tuple[Slot, ...]:
    return tuple(Slot.from_json(slot) for slot in planned)


def _day(text: str | None, default: date) -> date:
    return default if text is None else date.fromisoformat(text)


def _temporary(planned: PlannedTemporary | None) -> Temporary | None:
    if planned is None:
        return None
    return Temporary(
        date.fromisoformat(planned["first"]), date.fromisoformat(planned["last"]), _slots(planned["slots"])
    )


@lru_cache(maxsize=4096)
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
