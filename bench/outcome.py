"""What a run of `make chaos` is to do, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

LATEST_S = 60.0
MOST_DOUBLED = 0.05


@dataclass(frozen=True)
class Plan:
    reminders: int = 2000
    seconds: float = 300
    faults: int = 80
    seed: int = 1


@dataclass
class Outcome:
    plan: Plan
    faults: Counter[str] = field(default_factory=Counter)
    #: By reminder: how often its message reached the phone, and how late the first was.
    arrived: Counter[str] = field(default_factory=Counter)
    late_s: dict[str, float] = field(default_factory=dict)
    pushes: Counter[str] = field(default_factory=Counter)
    #: Calls that were under way when something was killed.
    deaths: int = 0
    unsettled: int = 0

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
    def latest_s(self) -> float:
        return max(self.late_s.values(), default=0.0)

    @property
    def keeps_promises(self) -> bool:
        """Nothing lost, nothing early, nothing twice but what was under way at a kill: however slow the machine is."""
        return (
            self.lost == self.lost_pushes == self.unsettled == 0
            and self.doubled <= self.deaths
            and min(self.late_s.values(), default=0.0) >= 0
        )

    @property
    def holds(self) -> bool:
        return self.keeps_promises and self.doubled <= MOST_DOUBLED * self.plan.reminders and self.latest_s <= LATEST_S

    def table(self) -> str:
        late = sorted(self.late_s.values())
        middle = late[len(late) // 2] if late else 0.0
        rows = [
            ("reminders", f"{self.plan.reminders} due within {self.plan.seconds:.0f} s"),
            ("faults", ", ".join(f"{count} x {kind}" for kind, count in sorted(self.faults.items()))),
            ("messages lost", f"{self.lost} (target 0)"),
            ("pushes lost", f"{self.lost_pushes} (target 0)"),
            ("deliveries left open", f"{self.unsettled} (target 0)"),
            ("messages sent twice", f"{self.doubled} (target: at most {self.deaths}, the calls under way at a kill)"),
            ("earliest", f"{min(late, default=0.0):.2f} s after due (target: never before)"),
            ("median", f"{middle:.2f} s after due"),
            ("latest", f"{self.latest_s:.1f} s after due (target {LATEST_S:.0f} s)"),
            ("verdict", "holds" if self.holds else "FAILS"),
        ]
        return "\n".join(f"{name:22} {value}" for name, value in rows)
