"""How many reminders a person may have, and how much of them on one day: each may be a message to a stranger's number.

Refused when one is made or changed; nothing is ever dropped at sending.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Conflict
from app.pengingat.models import Pengingat
from app.pengingat.schedule import DAY, NEVER, Schedule

#: Reminders of one person, done and past ones included.
MOST = 100
#: Dues of one person on one day.
MOST_A_DAY = 60


class TooManyReminders(Conflict):
    code = "too_many_reminders"


def check_new(user_id: int, schedule: Schedule, now: datetime) -> None:
    """`TooManyReminders` when a reminder with this schedule is one too many. The person is locked."""
    rows = _others(user_id)
    if len(rows) >= MOST:
        raise TooManyReminders(f"Anda sudah memiliki {MOST} pengingat. Hapus pengingat yang tidak diperlukan lagi.")
    _check_day([schedule for _, schedule in rows if schedule], None, schedule, now)


def check_change(pengingat: Pengingat, before: Schedule | None, now: datetime) -> None:
    """`TooManyReminders` when a reminder that had the open schedule `before` now has too much on one day.

    What was too much already may stay, and may become less. The person is locked.
    """
    after = open_schedule(pengingat)
    if after is not None and after != before:
        others = [schedule for id_, schedule in _others(pengingat.user_id) if schedule and id_ != pengingat.id]
        _check_day(others, before, after, now)


def open_schedule(pengingat: Pengingat) -> Schedule | None:
    """What a reminder still sends by; None when it is done for good."""
    return None if pengingat.done_until == NEVER else pengingat.schedule


def busiest_day(schedules: Iterable[Schedule], now: datetime) -> int:
    """The most dues that one local day holds, each due counted on the day of its own zone.

    Exact without looking at each day: dues of slots grow in number only on the first day of one, so the busiest day is
    within a week of such a day, or it is one that a single moment still to come falls on. Days that a zone skips are
    counted as if they were there.
    """
    firsts, lasts = defaultdict[int | None, list[date]](list), defaultdict[int | None, list[date]](list)
    single = Counter[date]()
    for schedule in schedules:
        today = now.astimezone(schedule.zone).date()
        for slot, first, last in schedule.stretches():
            if last >= today:
                insort(firsts[slot.weekday], max(first, today))
                insort(lasts[slot.weekday], last)
        if schedule.once is not None:
            single.update(due.at.astimezone(schedule.zone).date() for due in schedule.dues(now, NEVER))

    def dues_on(day: date) -> int:
        kinds = (None, day.weekday())
        begun = sum(bisect_right(firsts[kind], day) for kind in kinds)
        return begun - sum(bisect_left(lasts[kind], day) for kind in kinds) + single[day]

    weeks = {day + n * DAY for begun in firsts.values() for day in begun for n in range(7)}
    return max(map(dues_on, {*weeks, *single}), default=0)


def _check_day(others: list[Schedule], before: Schedule | None, after: Schedule, now: datetime) -> None:
    most = busiest_day([*others, after], now)
    if most > MOST_A_DAY and most > busiest_day([*others, before] if before else others, now):
        raise TooManyReminders(
            f"Pengingat Anda terlalu banyak dalam satu hari, paling banyak {MOST_A_DAY}."
            " Kurangi jadwalnya, atau hapus pengingat lain."
        )


def _others(user_id: int) -> list[tuple[int, Schedule | None]]:
    """Id and open schedule of all reminders of a person, in one statement."""
    query = sa.select(Pengingat.id, Pengingat.plan, Pengingat.timezone, Pengingat.done_until)
    return [
        (id_, None if done_until == NEVER else Schedule.from_json(plan, ZoneInfo(zone)))
        for id_, plan, zone, done_until in db.session.execute(query.where(Pengingat.user_id == user_id))
    ]
