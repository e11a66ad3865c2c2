"""Limits on a person's reminders: the number of reminders, and the number of due times on one day.

The limits exist because each due time sends a message, possibly to a stranger's phone number. They are checked when a
reminder is created or changed. They are not checked when a message is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from app.core.errors import Conflict
from app.pengingat.timetable.schedule import DAY, Schedule

#: Maximum reminders of one person. Done and past reminders count too.
MAX_REMINDERS = 100
#: Maximum sum, over the unfinished reminders of one person, of the due times on the busiest day of each reminder.
MAX_PER_DAY = 60


class TooManyReminders(Conflict):
    code = "too_many_reminders"


def check_number(count: int) -> None:
    """Raise `TooManyReminders` if a person has more than 100 reminders."""
    if count > MAX_REMINDERS:
        raise TooManyReminders(
            f"Anda sudah memiliki {MAX_REMINDERS} pengingat. Hapus pengingat yang tidak diperlukan lagi."
        )


def check_day(schedules: Iterable[Schedule | None], now: datetime) -> None:
    """Raise `TooManyReminders` if the schedules of a person's reminders may have more than 60 due times on one day."""
    if sum(on_busiest_day(each, now) for each in schedules) > MAX_PER_DAY:
        raise TooManyReminders(
            f"Pengingat Anda terlalu banyak dalam satu hari, paling banyak {MAX_PER_DAY}."
            " Kurangi jadwalnya, atau hapus pengingat lain."
        )


def on_busiest_day(schedule: Schedule | None, now: datetime) -> int:
    """Return the highest number of due times that a reminder has on one day.

    Return 0 if the reminder has no due time any more. None stands for a permanently done reminder.
    """
    if schedule is None or schedule.is_over(now):
        return 0
    if schedule.single_at is not None:
        notices = schedule.dues(schedule.single_at - 2 * DAY, schedule.single_at)
        return max(Counter(due.at.astimezone(schedule.zone).date() for due in notices).values())
    weekdays = Counter(slot.weekday for slot in schedule.slots)
    return weekdays.pop(None, 0) + max(weekdays.values(), default=0)
