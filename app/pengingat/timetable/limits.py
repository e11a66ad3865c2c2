"""Limits on a person's reminders: the number of reminders, and the number of due times on one day.

The limits exist because each due time sends a message, possibly to a stranger's phone number. They are checked when a
reminder is created or changed. They are not checked when a message is sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime

from app.core.errors import Conflict
from app.pengingat.timetable.schedule import DAY, NEVER, Schedule, moment_of

#: Maximum reminders of one person. Done and past reminders count too.
MAX_REMINDERS = 100
#: Maximum due times of one person on one day. Past due times of deleted or changed reminders count too.
MAX_PER_DAY = 60


class TooManyReminders(Conflict):
    code = "too_many_reminders"


#: Number of due times that are already past, by day.
Fallen = Mapping[date, int]


def check_new(others: Collection[Schedule | None], schedule: Schedule, fallen: Fallen, now: datetime) -> None:
    """Raise `TooManyReminders` if a new reminder with this schedule would exceed a limit.

    `others` has the schedules of the person's other reminders. None stands for a permanently done reminder.
    """
    if len(others) >= MAX_REMINDERS:
        raise TooManyReminders(
            f"Anda sudah memiliki {MAX_REMINDERS} pengingat. Hapus pengingat yang tidak diperlukan lagi."
        )
    check_day([other for other in others if other], None, schedule, fallen, now)


def busiest_day(schedules: Iterable[Schedule], now: datetime, fallen: Fallen | None = None) -> int:
    """Return the highest number of due times on one day. Count future due times, and the past due times in `fallen`.

    A due time counts on its day in the time zone of its reminder. A slot is a time that repeats daily or weekly.
    A day can have more repeating due times than the same weekday a week earlier only if a slot began in between. So
    check only the first seven days of each slot, and the days with single or past due times.
    """
    firsts, lasts = defaultdict[int | None, list[date]](list), defaultdict[int | None, list[date]](list)
    single = Counter[date](fallen)
    for schedule in schedules:
        today = now.astimezone(schedule.zone).date()
        for slot, first, last in schedule.active_periods():
            is_over = moment_of(today, slot.time, schedule.zone) <= now
            begin = max(first, today + DAY if is_over else today)
            if last >= begin:
                insort(firsts[slot.weekday], begin)
                insort(lasts[slot.weekday], last)
        if schedule.single_at is not None:
            single.update(due.at.astimezone(schedule.zone).date() for due in schedule.dues(now, NEVER))

    def dues_on(day: date) -> int:
        kinds = (None, day.weekday())
        begun = sum(bisect_right(firsts[kind], day) for kind in kinds)
        return begun - sum(bisect_left(lasts[kind], day) for kind in kinds) + single[day]

    weeks = {day + n * DAY for begun in firsts.values() for day in begun for n in range(7)}
    return max(map(dues_on, {*weeks, *single}), default=0)


def check_day(others: list[Schedule], before: Schedule | None, after: Schedule, fallen: Fallen, now: datetime) -> None:
    """Raise `TooManyReminders` if a change from `before` to `after` puts more than 60 due times on one day.

    If the limit was exceeded before the change, refuse the change only if the number on the busiest day rises.
    """
    most = busiest_day([*others, after], now, fallen)
    if most > MAX_PER_DAY and most > busiest_day([*others, before] if before else others, now, fallen):
        raise TooManyReminders(
            f"Pengingat Anda terlalu banyak dalam satu hari, paling banyak {MAX_PER_DAY}."
            " Kurangi jadwalnya, atau hapus pengingat lain."
        )
