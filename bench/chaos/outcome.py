"""Plan and outcome of a chaos experiment. The outcome is compared with the targets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bench.environment import Result, at_most

LATEST_S = 60.0


@dataclass(frozen=True)
class ExperimentPlan:
    """Size of a chaos experiment. The reminders fall due within `seconds`."""

    reminders: int
    seconds: float
    faults: int = 0


@dataclass
class ExperimentOutcome:
    """What arrived of some reminders. Each reminder has a unique title. All times are in seconds since 1970."""

    #: Due time of each reminder, by title.
    due: Mapping[str, float]
    #: Times of the messages that name a reminder, oldest first, by title.
    messages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    #: Titles of the reminders that arrived as a push.
    pushed: set[str] = field(default_factory=set)
    #: Titles in messages with an unknown outcome, because the worker died or the provider did not respond in time. Only
    #: these may arrive twice.
    unknown: set[str] = field(default_factory=set)
    #: Number of deliveries that are still open at the end.
    left_open: int = 0

    @property
    def lost(self) -> int:
        return 2 * len(self.due) - len(self.messages) - len(self.pushed)

    @property
    def doubled(self) -> set[str]:
        return {title for title, times in self.messages.items() if len(times) > 1}

    def late_s(self, after: float = 0.0) -> list[float]:
        """Return the delays of the first messages, for reminders that were due after `after`."""
        return [times[0] - self.due[title] for title, times in self.messages.items() if self.due[title] > after]

    def results(self, name: str, *, doubled: float | None = None, latest_s: float = LATEST_S) -> Iterator[Result]:
        """Yield the results and targets. At most `doubled` reminders may arrive twice, by default all of `unknown`."""
        at_most_doubled = len(self.unknown) if doubled is None else doubled
        yield at_most(f"{name}: lost", self.lost, 0, f"of {2 * len(self.due):,}")
        yield at_most(f"{name}: left open", self.left_open, 0, "deliveries")
        yield at_most(f"{name}: early", sum(late_s < 0 for late_s in self.late_s()), 0, "messages")
        yield at_most(f"{name}: sent twice", len(self.doubled), at_most_doubled, "reminders")
        yield at_most(f"{name}: sent twice after a known outcome", len(self.doubled - self.unknown), 0, "reminders")
        yield at_most(f"{name}: most of one message", max(map(len, self.messages.values()), default=0), 2, "copies")
        yield at_most(f"{name}: latest", max(self.late_s(), default=0.0), latest_s, "s after due")
