"""Due times in the model of the ledger, and the messages about them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.pengingat.net.plans import AGAIN, Due

HOUR = timedelta(hours=1)
CHANNELS = ("messaging", "push")


@dataclass(eq=False)
class Bell:
    """One message that a due time plans, on one channel. `kind` is `first`, `again` or `snooze`."""

    kind: str
    at: datetime
    channel: str
    sent_at: list[datetime] = field(default_factory=list)
    #: True if the outcome of a call is unknown, so that the message may come once more.
    is_unknown: bool = False
    #: True if the service knows no outcome of the last call.
    is_lost: bool = False
    #: True if a worker died around the last call, so that the service may know its outcome or not.
    is_unsure: bool = False
    #: True if the time was not open when a worker wanted to send the message.
    is_spent: bool = False
    #: Until this time, the service may wait before its next try.
    waits_until: datetime | None = None
    #: Workers that died while the message was due.
    deaths: int = 0

    def is_within(self, now):
        return self.at <= now < self.at + HOUR


@dataclass(repr=False, eq=False)
class Time:
    """One due time of a reminder, and its answer."""

    reminder: object
    due: Due
    state: str = "pending"
    via: str | None = None
    answered_at: datetime | None = None
    #: When the answer came. It is later than `answered_at` if the answer was given offline.
    came_at: datetime | None = None
    undone_at: datetime | None = None
    snoozed_until: datetime | None = None
    snoozes: int = 0
    taken: float = 0
    bells: list[Bell] = field(default_factory=list)
    #: The last message about this time, by channel.
    messages: dict[str, "Message"] = field(default_factory=dict)

    def __post_init__(self):
        self.begin()

    def __repr__(self):
        named = ("state", "snoozed_until", "undone_at", "came_at")
        notes = ", ".join(f"{name} {getattr(self, name)}" for name in named if getattr(self, name))
        return f"<{self.reminder.plan.title} {self.reminder.plan.kind} {self.due.at:%a %H:%M}: {notes}>"

    def begin(self):
        """Plan the messages anew, without a snooze."""
        self.state, self.snoozed_until, self.snoozes = "pending", None, 0
        self.bells = [Bell("first", self.due.at, channel) for channel in CHANNELS]
        if again := AGAIN.get(self.reminder.plan.kind):
            self.bells += [Bell("again", self.due.at + again, channel) for channel in CHANNELS]

    @property
    def is_answered(self):
        return self.state in ("done", "skipped")

    @property
    def over_at(self):
        """Return when the time is missed."""
        return max(self.due.at, self.snoozed_until or self.due.at) + HOUR

    @property
    def is_late(self):
        return self.state == "done" and self.answered_at is not None and self.answered_at >= self.over_at

    def first(self, channel):
        return next(bell for bell in self.bells if (bell.kind, bell.channel) == ("first", channel))


@dataclass(eq=False)
class Message:
    """One message about the times of one moment, in the order of their numbers."""

    channel: str
    kind: str
    at: datetime
    token: str
    said: list[tuple[Time, Bell]]

    @property
    def times(self):
        return [time for time, _ in self.said]

    def is_of(self, bell):
        return (self.channel, self.kind, self.at) == (bell.channel, bell.kind, bell.at)
