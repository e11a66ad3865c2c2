"""The smallest ledger that follows the rules of reminders: due times, answers, and messages."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tests.pengingat.net.plans import Plan
from tests.pengingat.net.times import CHANNELS, HOUR, Bell, Time

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MAX_SNOOZES = 3
#: Minutes of each snooze.
SNOOZE = 30
#: Shortest time from the first message of a dose to the second.
JUST_SENT = 4 * MINUTE
#: Longest time from a failed call to the next.
LONGEST_RETRY = 30 * MINUTE
#: Time ahead for which the model has due times.
HORIZON = 3 * DAY


@dataclass(eq=False)
class Reminder:
    id: int
    plan: Plan
    left: float
    times: dict[tuple[datetime, str], Time] = field(default_factory=dict)
    is_deleted: bool = False

    def extend(self, now):
        """Add the coming due times of the present plan, and revive those that an earlier edit made void."""
        for due in self.plan.dues(now, now + HORIZON):
            time = self.times.get((due.at, due.slot))
            if time is None:
                self.times[due.at, due.slot] = Time(self, due)
            elif time.state == "void":
                time.begin()

    def edit(self, now):
        self.plan = replace(self.plan, version=1 - self.plan.version)
        planned = {(due.at, due.slot) for due in self.plan.dues(now, now + HORIZON)}
        for key, time in self.times.items():
            if time.due.at > now and time.state == "pending" and key not in planned:
                time.state = "void"
        self.extend(now)

    def is_planned(self, time):
        return time.due in self.plan.dues(time.due.at - MINUTE, time.due.at)

    def last(self, now):
        """Return the last time that fell due."""
        past = (time for time in self.times.values() if time.due.at <= now and time.state != "void")
        return max(past, key=lambda time: time.due.at, default=None)

    def present(self, now):
        """Return the last time that fell due, or before the first one the next."""
        coming = (time for time in self.times.values() if time.due.at > now and time.state != "void")
        return self.last(now) or min(coming, key=lambda time: time.due.at, default=None)

    def after(self, time, until):
        """Return the later due times that have fallen due until then."""
        later = (each for each in self.times.values() if time.due.at < each.due.at <= until and each.state != "void")
        return sorted(later, key=lambda each: each.due.at)

    def next_at(self, time):
        """Return the next due time. After the last notice of a visit, return the time of the visit."""
        coming = [each.due.at for each in self.after(time, time.due.at + 8 * DAY)]
        about = [time.due.about] if time.due.about > time.due.at else []
        return min([*coming, *about], default=time.due.at + 8 * DAY)


@dataclass
class Ledger:
    now: datetime
    reminders: list[Reminder] = field(default_factory=list)
    is_withdrawn: bool = False

    @property
    def alive(self):
        return [each for each in self.reminders if not each.is_deleted]

    def times(self):
        for reminder in self.reminders:
            yield from reminder.times.values()

    def bells(self):
        for time in self.times():
            for bell in time.bells:
                yield time, bell

    def extend(self):
        for reminder in self.alive if not self.is_withdrawn else ():
            reminder.extend(self.now)

    # --- answers -----------------------------------------------------------------------------------------------------

    def refusal(self, time, status, at=None):
        """Return the code of the error, `same` if the answer changes nothing, or None if it is recorded.

        `at` is the time of an offline answer.
        """
        if self.is_withdrawn:
            return "consent_withdrawn"
        if time.due.at > self.now + HOUR:
            return "too_early"
        if time.state == status:
            return "same"
        if at and any(moment and at <= moment for moment in (time.answered_at, time.undone_at)):
            return "same"
        match time.state:
            case "pending":
                return None
            case "missed":
                later = time.reminder.after(time, at or self.now)
                return None if not later and (status == "done" or at) else "already_closed"
            case "done" | "skipped":
                return None if time.came_at > self.now - DAY else "already_closed"
        return "already_closed"

    def answer(self, time, status, via, at=None):
        self._take(time, 1 if status == "done" else 0)
        time.state, time.via, time.answered_at, time.came_at = status, via, at or self.now, self.now

    def outcome(self, times, status):
        """Return the times that an answer to all these times changes, those that have it already, and the error."""
        there = [time for time in times if not time.reminder.is_deleted]
        open_ = [[time for time in there if time.state == state] for state in ("pending", "missed")]
        group = next(filter(None, open_), there)
        refusals = [
            self.refusal_of_snooze(each) if status == "snooze" else self.refusal(each, status) for each in group
        ]
        changed, same = (
            [time for time, refusal in zip(group, refusals, strict=True) if refusal == wanted]
            for wanted in (None, "same")
        )
        return changed, same, None if changed or same else next(iter(refusals), "refused")

    def answer_all(self, times, status, via):
        for time in times:
            self.snooze(time) if status == "snooze" else self.answer(time, status, via)

    def snoozed_until(self, time):
        return max(self.now, time.due.at) + SNOOZE * MINUTE

    def refusal_of_snooze(self, time):
        if self.is_withdrawn:
            return "consent_withdrawn"
        if time.due.at > self.now + HOUR:
            return "too_early"
        if time.state != "pending":
            return "already_closed"
        is_in_time = self.snoozed_until(time) < time.reminder.next_at(time)
        return None if time.snoozes < MAX_SNOOZES and is_in_time else "cannot_snooze"

    def snooze(self, time):
        time.snoozed_until, time.snoozes = self.snoozed_until(time), time.snoozes + 1
        if not any((bell.kind, bell.at) == ("snooze", time.snoozed_until) for bell in time.bells):
            time.bells += [Bell("snooze", time.snoozed_until, channel) for channel in CHANNELS]

    def may_be_undone(self, time):
        return time.is_answered and time.came_at is not None and time.came_at > self.now - DAY

    def undo(self, time):
        self._take(time, 0)
        time.state = "pending" if self.now < time.over_at else "missed"
        time.via = time.answered_at = time.came_at = None
        time.undone_at = self.now

    def _take(self, time, amount):
        """Take a dose out of the stock, or give it back."""
        reminder = time.reminder
        reminder.left += time.taken
        time.taken = min(amount, reminder.left) if reminder.plan.kind == "stok" else 0
        reminder.left -= time.taken

    # --- changes -----------------------------------------------------------------------------------------------------

    def delete(self, reminder):
        reminder.is_deleted = True
        for time in reminder.times.values():
            if time.state == "pending":
                time.state = "void"

    def withdraw(self):
        self.is_withdrawn = True
        for time in self.times():
            if time.state == "pending" and time.due.at > self.now:
                time.state = "void"

    def resume(self):
        self.is_withdrawn = False
        self.extend()

    def miss(self):
        for time in self.times():
            if time.state == "pending" and self.now >= time.over_at:
                time.state = "missed"

    # --- messages ----------------------------------------------------------------------------------------------------

    def may_be_sent(self, time, bell):
        """Return whether the message may leave now."""
        is_open = time.state in ("pending", "missed") and not time.reminder.is_deleted and not self.is_withdrawn
        is_new = len(bell.sent_at) <= (1 if bell.is_unknown else 0) and (
            not bell.is_spent or time.undone_at is not None
        )
        if not (is_open and is_new and bell.is_within(self.now)):
            return False
        if bell.kind == "snooze":
            return bell.at == time.snoozed_until
        if time.snoozes:
            return False
        first = time.first(bell.channel)
        was_told = bool(first.sent_at) and not first.is_lost and first.sent_at[-1] <= self.now - JUST_SENT
        return bell.kind == "first" or was_told

    def must_be_sent(self, time, bell):
        """Return whether the message must leave now, if the providers accept it."""
        if not self.may_be_sent(time, bell) or bell.sent_at or bell.is_spent or bell.deaths:
            return False
        if bell.waits_until and self.now < bell.waits_until:
            return False
        if bell.kind != "again":
            return True
        first = time.first(bell.channel)
        return not first.is_unsure and (time.undone_at is None or time.undone_at < time.due.at)
