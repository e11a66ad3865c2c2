"""Plan and outcome of a chaos experiment. The outcome is compared with the targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.environment import Result, at_most

LATEST_S = 60.0


@dataclass(frozen=True)
class ExperimentPlan:
    """Size of a chaos experiment.

    The reminders fall due within `seconds`. `seed` is the random seed.
    """

    reminders: int
    seconds: float
    faults: int = 0
    seed: int = 1


@dataclass
class Ledger:
    occurrences: int
    states: list[str] = field(default_factory=list)
    #: Number of occurrences (doses) that are missing, duplicated, or not in the state of the last answer.
    wrong: int = 0
    #: Number of medicines whose stock is not the initial stock minus the doses taken.
    miscounted: int = 0
    #: Number of messages about doses that were answered before a worker claimed the message.
    said_late: int = 0

    @property
    def open(self) -> int:
        return self.states.count("pending")

    @property
    def keeps_promises(self) -> bool:
        return (
            len(self.states) == self.occurrences and self.open == self.wrong == self.miscounted == self.said_late == 0
        )

    def results(self, name: str) -> Iterator[Result]:
        yield at_most(f"{name}: occurrences lost", self.occurrences - len(self.states), 0, f"of {self.occurrences:,}")
        yield at_most(f"{name}: without a final state", self.open, 0, "occurrences")
        yield at_most(f"{name}: not as they were answered", self.wrong, 0, "occurrences")
        yield at_most(f"{name}: stock miscounted", self.miscounted, 0, "medicines")
        yield at_most(f"{name}: said after the answer", self.said_late, 0, "messages")


@dataclass
class ExperimentOutcome:
    plan: ExperimentPlan
    faults: Counter[str] = field(default_factory=Counter)
    #: `arrived`: number of messages that arrived for each reminder. `late_s`: delay of each reminder's first message in
    #: seconds.
    arrived: Counter[str] = field(default_factory=Counter)
    late_s: dict[str, float] = field(default_factory=dict)
    pushes: Counter[str] = field(default_factory=Counter)
    #: Number of reminders in messages with an unknown outcome, because the worker died or the provider did not respond
    #: in time.
    unknown: int = 0
    unsettled: int = 0
    #: Result of the dose ledger. None if people do not answer in this chaos experiment.
    ledger: Ledger | None = None

    @property
    def lost(self) -> int:
        return self.plan.reminders - len(self.arrived)

    @property
    def lost_pushes(self) -> int:
        return self.plan.reminders - len(self.pushes)

    @property
    def doubled(self) -> int:
        return sum(1 for count in self.arrived.values() if count > 1)

    @property
    def early(self) -> int:
        return sum(1 for late_s in self.late_s.values() if late_s < 0)

    @property
    def latest_s(self) -> float:
        return max(self.late_s.values(), default=0.0)

    @property
    def keeps_promises(self) -> bool:
        """Return whether the chaos experiment has no errors. A delay is no error.

        A lost or early message is an error. Only a message with an unknown outcome may be sent twice.
        """
        return (
            self.lost == self.lost_pushes == self.unsettled == self.early == 0
            and self.doubled <= self.unknown
            and max(self.arrived.values(), default=0) <= 2
            and (self.ledger is None or self.ledger.keeps_promises)
        )

    def results(self, name: str, *, doubled: int = 0, latest_s: float = LATEST_S) -> Iterator[Result]:
        """Yield the results and targets. At most `doubled` reminders may arrive twice."""
        yield at_most(f"{name}: lost", self.lost + self.lost_pushes, 0, f"of {2 * self.plan.reminders:,}")
        yield at_most(f"{name}: left open", self.unsettled, 0, "deliveries")
        yield at_most(f"{name}: early", self.early, 0, "messages")
        yield at_most(f"{name}: sent twice", self.doubled, doubled, "reminders")
        yield at_most(f"{name}: most of one message", max(self.arrived.values(), default=0), 2, "copies")
        yield at_most(f"{name}: latest", self.latest_s, latest_s, "s after due")
        if self.ledger is not None:
            yield from self.ledger.results(name)

    def __str__(self) -> str:
        late = sorted(self.late_s.values()) or [0.0]
        faults = ", ".join(f"{count} x {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"{self.plan.reminders} reminders within {self.plan.seconds:.0f} s; {faults or 'no random faults'}; "
            f"lost {self.lost} messages and {self.lost_pushes} pushes; left open {self.unsettled}; "
            f"sent twice {self.doubled}, unknown {self.unknown}; late {late[0]:.2f} to {late[-1]:.1f} s"
            f"{'' if self.ledger is None else f'; {self.ledger.wrong} of {self.ledger.occurrences} occurrences wrong'}"
        )
