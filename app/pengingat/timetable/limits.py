"""How many reminders a person may have, and how much of them on one day: each may be a message to a stranger's number.

Refused when one is made or changed; nothing is ever dropped at sending.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime

from app.core.errors import Conflict
from app.pengingat.timetable.schedule import DAY, NEVER, Schedule, moment_of

#: Reminders of one person, done and past ones included.
MOST = 100
#: Dues of one person on one day, those included that fell due before their reminder was deleted or moved.
MOST_A_DAY = 60


class TooManyReminders(Conflict):
    code = "too_many_reminders"


#: Dues that have fallen, by day.
Fallen = Mapping[date, int]


def check_new(others: Collection[Schedule | None], schedule: Schedule, fallen: Fallen, now: datetime) -> None:
    """Raise `TooManyReminders` if a reminder with this schedule is one too many.

    `others` are the open schedules of the person's reminders, None for one that is done for good.
    """
    if len(others) >= MOST:
        raise TooManyReminders(f"Anda sudah memiliki {MOST} pengingat. Hapus pengingat yang tidak diperlukan lagi.")
    check_day([other for other in others if other], None, schedule, fallen, now)


def busiest_day(schedules: Iterable[Schedule], now: datetime, fallen: Fallen | None = None) -> int:
    """The most dues that one local day holds, each due counted on the day of its own zone.

    These are the dues still to come, and by day those that have `fallen` due. Exact without looking at each day: dues
    of slots grow in number only on the first day of one. So the busiest day is within a week of such a day, or it has
    a single moment or what has fallen due. Days that a zone skips are counted as if they were there.
    """
    firsts, lasts = defaultdict[int | None, list[date]](list), defaultdict[int | None, list[date]](list)
    single = Counter[date](fallen)
    for schedule in schedules:
        today = now.astimezone(schedule.zone).date()
        for slot, first, last in schedule.stretches():
            is_over = moment_of(today, slot.time, schedule.zone) <= now
            begin = max(first, today + DAY if is_over else today)
            if last >= begin:
                insort(firsts[slot.weekday], begin)
                insort(lasts[slot.weekday], last)
        if schedule.once is not None:
            single.update(due.at.astimezone(schedule.zone).date() for due in schedule.dues(now, NEVER))

    def dues_on(day: date) -> int:
        kinds = (None, day.weekday())
        begun = sum(bisect_right(firsts[kind], day) for kind in kinds)
        return begun - sum(bisect_left(lasts[kind], day) for kind in kinds) + single[day]

    weeks = {day + n * DAY for begun in firsts.values() for day in begun for n in range(7)}
    return max(map(dues_on, {*weeks, *single}), default=0)


def check_day(others: list[Schedule], before: Schedule | None, after: Schedule, fallen: Fallen, now: datetime) -> None:
    """Raise `TooManyReminders` if a schedule that was `before` makes a day too busy.

    A day that was too busy already may stay so, and may become less busy.
    """
    most = busiest_day([*others, after], now, fallen)
    if most > MOST_A_DAY and most > busiest_day([*others, before] if before else others, now, fallen):
        raise TooManyReminders(
            f"Pengingat Anda terlalu banyak dalam satu hari, paling banyak {MOST_A_DAY}."
            " Kurangi jadwalnya, atau hapus pengingat lain."
        )
