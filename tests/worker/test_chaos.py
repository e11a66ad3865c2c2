"""Short version of `make chaos`: each kind of fault once, while reminders are due."""

import pytest

from bench.chaos.__main__ import main
from bench.chaos.kills import FAULTS, play
from bench.chaos.outcome import ExperimentPlan

pytestmark = [pytest.mark.takes(seconds=75), pytest.mark.processes]


def test_reminders_survive_one_of_each_fault():
    """`make chaos` also measures how late messages are and how many are sent twice."""
    outcome = play(ExperimentPlan(reminders=80, seconds=8, faults=len(FAULTS)))
    assert outcome.keeps_promises, str(outcome)
    assert sum(outcome.faults.values()) == len(FAULTS)  # if a fault is impossible, a worker is killed


def test_an_unknown_experiment_is_refused_with_a_list_of_valid_names(capsys):
    assert main(["kills", "floods"]) == 2
    told = capsys.readouterr().out
    assert told.startswith("There is no experiment floods; there are kills, poison, ")
