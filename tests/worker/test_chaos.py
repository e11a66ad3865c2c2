"""The short version of `make chaos`: one of each fault while reminders fall due."""

from __future__ import annotations

import pytest

from bench.chaos import FAULTS, Plan, run

pytestmark = pytest.mark.takes(seconds=47)


def test_reminders_survive_one_of_each_fault() -> None:
    outcome = run(Plan(reminders=80, seconds=8, faults=len(FAULTS)))
    assert outcome.holds, outcome.table()
    assert sum(outcome.faults.values()) >= len(FAULTS) - 1  # a horse may be too quick to be caught
