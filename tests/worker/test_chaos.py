"""The short version of `make chaos`: one of each fault while reminders fall due."""

from __future__ import annotations

import pytest

from bench.chaos.kills import FAULTS, play
from bench.chaos.outcome import Plan

pytestmark = pytest.mark.takes(seconds=47)


def test_reminders_survive_one_of_each_fault() -> None:
    """How late the latest is, and how many of a hundred come twice, is measured by `make chaos`."""
    outcome = play(Plan(reminders=80, seconds=8, faults=len(FAULTS)))
    assert outcome.keeps_promises, str(outcome)
    assert sum(outcome.faults.values()) == len(FAULTS)  # of other kinds where a horse was too quick to be caught
