"""The short version of `make chaos`: one of each fault while reminders fall due."""

from __future__ import annotations

import pytest

from bench.chaos.__main__ import ROWS, main
from bench.chaos.kills import FAULTS, play
from bench.chaos.outcome import Plan

pytestmark = pytest.mark.takes(seconds=47)


def test_reminders_survive_one_of_each_fault() -> None:
    """How late the latest is, and how many of a hundred come twice, is measured by `make chaos`."""
    outcome = play(Plan(reminders=80, seconds=8, faults=len(FAULTS)))
    assert outcome.keeps_promises, str(outcome)
    assert sum(outcome.faults.values()) == len(FAULTS)  # of other kinds where a horse was too quick to be caught


def test_a_row_that_there_is_not_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kills", "floods"]) == 2
    told = capsys.readouterr().out
    assert told.startswith("There is no row floods; there are kills, freezes, ")


@pytest.mark.parametrize("name", ROWS)
def test_the_short_plan_of_a_row_is_the_smaller_one(name: str) -> None:
    row = ROWS[name]
    assert row.SHORT.reminders < row.WHOLE.reminders
    assert row.SHORT.seconds < row.WHOLE.seconds
    assert row.SHORT.faults <= row.WHOLE.faults
