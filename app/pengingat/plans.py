"""From what a person sent to a schedule: each type of reminder read once, its UTC times turned into wall times."""

from __future__ import annotations

from datetime import datetime, time
from zoneinfo import ZoneInfo

from app.pengingat.models import Details, Tipe
from app.pengingat.schedule import WEEKDAYS, Schedule, Slot, wall_time

MEALS = ("sarapan", "makan_siang", "makan_malam", "selingan")
#: The slot of a meal reminder whose meals name no time.
ANY_MEAL = "makan"


def schedule_of(tipe: str, details: Details, start: datetime | None, zone: ZoneInfo, now: datetime) -> Schedule:
    """The schedule of validated details; `start` is what was sent as `waktu`."""
    match Tipe(tipe):
        case Tipe.OBAT:
            doses = enumerate(details["jadwal"])
            return Schedule(zone, slots=tuple(Slot(str(n), wall_time(dose["jam"], zone, now)) for n, dose in doses))
        case Tipe.MAKAN:
            timed = [
                Slot(meal, wall_time(details[meal]["jam"], zone, now))
                for meal in MEALS
                if details.get(meal, {}).get("jam")
            ]
            return Schedule(zone, slots=tuple(timed) or (Slot(ANY_MEAL, _wall(start, zone)),))
        case Tipe.TERAPI:
            sessions = details.get("jadwal") or []
            if not sessions:
                return Schedule(zone, once=start)
            return Schedule(
                zone,
                slots=tuple(
                    Slot(str(n), wall_time(session["jam"], zone, now), WEEKDAYS.index(session["hari"]))
                    for n, session in enumerate(sessions)
                ),
            )
        case Tipe.KONTROL:
            visit = details.get("datetime")
            before = tuple(row["offset"] for row in details.get("reminder_offsets") or [])
            return Schedule(zone, once=datetime.fromisoformat(visit) if visit else start, before=before)


def says_when(tipe: str, details: Details) -> bool:
    """Whether validated details make a schedule by themselves, without `waktu`."""
    match Tipe(tipe):
        case Tipe.OBAT:
            return True
        case Tipe.MAKAN:
            return any(details.get(meal, {}).get("jam") for meal in MEALS)
        case Tipe.TERAPI:
            return bool(details.get("jadwal"))
        case Tipe.KONTROL:
            return bool(details.get("datetime"))


def _wall(start: datetime | None, zone: ZoneInfo) -> time:
    assert start is not None  # noqa: S101  # the service demands it where the details do not say
    return start.astimezone(zone).time().replace(second=0, microsecond=0)
