"""Conversion of a reminder's details into its schedule.

Clients send times in UTC. The schedule stores them as wall times, which are times of day in the reminder's time zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from app.pengingat.timetable.schedule import WEEKDAYS, Schedule, Slot, Temporary, wall_time
from app.pengingat.timetable.tipe import Details, Tipe

MEALS = ("sarapan", "makan_siang", "makan_malam", "selingan")
#: Name of a time of day (slot) in the schedule of a meal reminder. If the meals have no times, the schedule has only
#: this slot.
ANY_MEAL = "makan"
#: Field of a medicine's details with the doses that replace `jadwal` for some days.
TEMPORARY = "jadwal_sementara"

#: Wall times of the stored details. The key is a time in UTC, and the list, meal or weekday that has this time.
WallTimes = Mapping[tuple[str, str], time]


def wall_times(tipe: str, details: Details, schedule: Schedule) -> WallTimes:
    """Return the wall times of a stored reminder. An edit keeps the wall time of each time that it does not change."""
    sessions = details.get("jadwal") or []
    match Tipe(tipe):
        case Tipe.OBAT:
            times = _known("jadwal", sessions, schedule.slots)
            if schedule.temporary is not None:
                temporary = details[TEMPORARY]["jadwal"]
                times.update(_known(TEMPORARY, temporary, schedule.temporary.slots))
            return times
        case Tipe.MAKAN:
            return {(slot.name, details[slot.name]["jam"]): slot.time for slot in schedule.slots if slot.name in MEALS}
        case Tipe.TERAPI:
            of_days = {
                (row["hari"], row["jam"]): slot.time for row, slot in zip(sessions, schedule.slots, strict=False)
            }
            return {**_known("jadwal", sessions, schedule.slots), **of_days}
        case Tipe.KONTROL:
            return {}


def _known(name: str, rows: Iterable[Details], slots: Iterable[Slot]) -> dict[tuple[str, str], time]:
    return {(name, row["jam"]): slot.time for row, slot in zip(rows, slots, strict=False)}


@dataclass(frozen=True)
class Clock:
    """Conversion of times in UTC into wall times, with the UTC offset of the time zone at the moment `now`."""

    zone: ZoneInfo
    now: datetime
    #: Wall times that are kept, see `wall_times`.
    kept: WallTimes = field(default_factory=dict)

    def wall(self, jam: str, *places: str) -> time:
        """Return the kept wall time of this time in the first of the places that has it, or else convert the time."""
        kept = (self.kept.get((place, jam)) for place in places)
        return next((each for each in kept if each is not None), None) or wall_time(jam, self.zone, self.now)

    def doses(self, jadwal: Sequence[Details], place: str = "jadwal") -> tuple[Slot, ...]:
        return tuple(Slot(str(n), self.wall(dose["jam"], place)) for n, dose in enumerate(jadwal))


def schedule_of(tipe: str, details: Details, start: datetime | None, clock: Clock) -> Schedule:
    """Return the schedule for validated details. `start` is the field `waktu` (time) of the request, if any."""
    zone = clock.zone
    match Tipe(tipe):
        case Tipe.OBAT:
            return Schedule(
                zone,
                slots=clock.doses(details["jadwal"]),
                first=_day(details.get("mulai")) or date.min,
                last=_day(details.get("selesai")) or date.max,
                temporary=_temporary(details.get(TEMPORARY), clock),
            )
        case Tipe.MAKAN:
            timed = [
                Slot(meal, clock.wall(details[meal]["jam"], meal)) for meal in MEALS if details.get(meal, {}).get("jam")
            ]
            return Schedule(zone, slots=tuple(timed) or (Slot(ANY_MEAL, _wall(start, zone)),))
        case Tipe.TERAPI:
            sessions = details.get("jadwal") or []
            if not sessions:
                return Schedule(zone, single_at=start)
            return Schedule(
                zone,
                slots=tuple(
                    Slot(str(n), clock.wall(session["jam"], session["hari"], "jadwal"), WEEKDAYS.index(session["hari"]))
                    for n, session in enumerate(sessions)
                ),
            )
        case Tipe.KONTROL:
            visit = details.get("datetime")
            before = tuple(row["offset"] for row in details.get("reminder_offsets") or [])
            return Schedule(zone, single_at=datetime.fromisoformat(visit) if visit else start, lead_offsets=before)


def has_times(tipe: str, details: Details) -> bool:
    """Return whether these validated details contain times. If they do, the request needs no field `waktu`."""
    match Tipe(tipe):
        case Tipe.OBAT:
            return True
        case Tipe.MAKAN:
            return any(details.get(meal, {}).get("jam") for meal in MEALS)
        case Tipe.TERAPI:
            return bool(details.get("jadwal"))
        case Tipe.KONTROL:
            return bool(details.get("datetime"))


def doses_on(details: Details, schedule: Schedule, moment: datetime) -> Sequence[Details]:
    """Return the doses of a medicine on the day of this moment: the temporary doses or the normal doses."""
    temporary = schedule.temporary
    is_temporary = temporary and temporary.first <= moment.astimezone(schedule.zone).date() <= temporary.last
    doses: list[Details] = (details[TEMPORARY] if is_temporary else details)["jadwal"]
    return doses


def _temporary(sent: Details | None, clock: Clock) -> Temporary | None:
    if sent is None:
        return None
    first, last = date.fromisoformat(sent["mulai"]), date.fromisoformat(sent["selesai"])
    return Temporary(first, last, clock.doses(sent["jadwal"], TEMPORARY))


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _wall(start: datetime | None, zone: ZoneInfo) -> time:
    assert start is not None  # noqa: S101  # the service requires `waktu` if the details have no time
    return start.astimezone(zone).time().replace(second=0, microsecond=0)
