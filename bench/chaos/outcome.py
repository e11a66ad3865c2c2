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

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(Counter(self.states).items()))
        return f"{counts} of {self.occurrences}; {self.wrong} wrong; the stock of {self.miscounted} miscounted"


@dataclass
class Alerts:
    """Alerts of a chaos experiment, counted at its end. An alert tells one caregiver about one missed dose."""

    due: int = 0
    lost: int = 0
    lost_pushes: int = 0
    #: Number of alerts with too many messages. One message is allowed, or two if a message had an unknown outcome.
    twice: int = 0
    #: `unknown`: number of alerts that had a message with an unknown outcome. `repeated`: number of these alerts that
    #: arrived twice.
    unknown: int = 0
    repeated: int = 0
    #: Messages and pushes to caregivers who have no permission to get alerts.
    misdirected: int = 0
    #: Alerts about doses that the patient had answered in time.
    answered: int = 0
    unsettled: int = 0
    #: Number of faults while alerts were sent, by kind.
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def keeps_promises(self) -> bool:
        wrong = self.twice, self.misdirected, self.answered, self.unsettled
        return self.lost == self.lost_pushes == 0 and not any(wrong)

    def results(self, name: str, *, repeated: int) -> Iterator[Result]:
        """Yield the results of the alerts, each with its target.

        The target is that at most `repeated` alerts with an unknown outcome arrive twice.
        """
        yield at_most(f"{name}: alerts lost", self.lost + self.lost_pushes, 0, f"of {2 * self.due:,}")
        yield at_most(f"{name}: alerts left open", self.unsettled, 0, "alerts")
        yield at_most(f"{name}: alerts sent twice", self.twice, 0, "alerts")
        yield at_most(f"{name}: alerts repeated, their outcome unknown", self.repeated, repeated, "alerts")
        yield at_most(f"{name}: alerts to the wrong person", self.misdirected, 0, "alerts")
        yield at_most(f"{name}: alerts of what was answered", self.answered, 0, "alerts")

    def __str__(self) -> str:
        faults = ", ".join(f"{count} x {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"of {self.due} alerts lost {self.lost} messages and {self.lost_pushes} pushes among "
            f"{faults or 'no faults of their own'}; left open {self.unsettled}; sent twice {self.twice}, unknown "
            f"{self.unknown}, repeated {self.repeated}; {self.misdirected} to the wrong person, {self.answered} of "
            "what was answered"
        )


@dataclass
class ExperimentOutcome:
    plan: ExperimentPlan
    faults: Counter[str] = field(default_factory=Counter)
    #: `arrived`: number of messages that arrived for each reminder. `late_s`: delay of each reminder's first message in
    #: seconds.
    arrived: Counter[str] = field(default_factory=Counter)
    late_s: dict[str, float] = field(default_factory=dict)
    pushes: Counter[str] = field(default_factory=Counter)
    #: Number of messages with an unknown outcome, because the worker died or the provider did not respond in time.
    unknown: int = 0
    unsettled: int = 0
    #: Result of the dose ledger. None if people do not answer in this chaos experiment.
    ledger: Ledger | None = None
    #: Outcome of the alerts to caregivers about unanswered doses.
    alerts: Alerts = field(default_factory=Alerts)

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
            and self.alerts.keeps_promises
        )

    def results(
        self, name: str, *, doubled: int = 0, repeated: int = 0, latest_s: float = LATEST_S
    ) -> Iterator[Result]:
        """Yield the results and targets. At most `doubled` messages and `repeated` alerts may arrive twice."""
        yield at_most(f"{name}: lost", self.lost + self.lost_pushes, 0, f"of {2 * self.plan.reminders:,}")
        yield at_most(f"{name}: left open", self.unsettled, 0, "deliveries")
        yield at_most(f"{name}: early", self.early, 0, "messages")
        yield at_most(f"{name}: sent twice", self.doubled, doubled, "messages")
        yield at_most(f"{name}: most of one message", max(self.arrived.values(), default=0), 2, "copies")
        yield at_most(f"{name}: latest", self.latest_s, latest_s, "s after due")
        if self.ledger is not None:
            yield from self.ledger.results(name)
        if self.alerts.due:
            yield from self.alerts.results(name, repeated=repeated)

    def __str__(self) -> str:
        late = sorted(self.late_s.values()) or [0.0]
        faults = ", ".join(f"{count} x {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"{self.plan.reminders} reminders within {self.plan.seconds:.0f} s; {faults or 'no random faults'}; "
            f"lost {self.lost} messages and {self.lost_pushes} pushes; left open {self.unsettled}; "
            f"sent twice {self.doubled}, unknown {self.unknown}; late {late[0]:.2f} to {late[-1]:.1f} s"
            f"{'' if self.ledger is None else f'; {self.ledger}'}"
            f"{f'; {self.alerts}' if self.alerts.due else ''}"
        )
