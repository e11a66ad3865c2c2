"""Short version of `make chaos`: each kind of fault once, while reminders and alerts to caregivers are due."""

from dataclasses import replace

import pytest

from bench.chaos.__main__ import EXPERIMENTS, main
from bench.chaos.kills import FAULTS, play
from bench.chaos.outcome import Alerts, ExperimentOutcome, ExperimentPlan

pytestmark = [pytest.mark.takes(seconds=75), pytest.mark.processes]


def test_reminders_survive_one_of_each_fault():
    """`make chaos` also measures how late messages are and how many are sent twice."""
    outcome = play(ExperimentPlan(reminders=80, seconds=8, faults=len(FAULTS)))
    assert outcome.keeps_promises, str(outcome)
    for faults in (outcome.faults, outcome.alerts.faults):
        assert sum(faults.values()) == len(FAULTS)  # if a fault is impossible, a worker is killed
    assert outcome.alerts.due > 0


@pytest.mark.parametrize("flaw", ["lost", "lost_pushes", "twice", "misdirected", "answered", "unsettled"])
def test_each_kind_of_wrong_alert_fails_one_result(flaw):
    alerts = Alerts(due=20, unknown=1, repeated=1)
    assert alerts.keeps_promises
    assert all(result.holds for result in alerts.results("kills", repeated=1))
    wrong = replace(alerts, **{flaw: 1})
    assert not ExperimentOutcome(ExperimentPlan(reminders=0, seconds=0), alerts=wrong).keeps_promises
    assert [result.holds for result in wrong.results("kills", repeated=1)].count(False) == 1


def test_repeated_alerts_fail_the_result_if_none_are_allowed():
    results = Alerts(due=20, unknown=1, repeated=1).results("confirmed", repeated=0)
    assert [result.name for result in results if not result.holds] == [
        "confirmed: alerts repeated, their outcome unknown"
    ]


def test_an_unknown_experiment_is_refused_with_a_list_of_valid_names(capsys):
    assert main(["kills", "floods"]) == 2
    told = capsys.readouterr().out
    assert told.startswith("There is no experiment floods; there are kills, confirmed, ")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_short_plan_of_an_experiment_is_the_smaller_one(name):
    short, whole = EXPERIMENTS[name].SHORT, EXPERIMENTS[name].WHOLE
    assert short.reminders < whole.reminders
    assert short.seconds < whole.seconds
    assert short.faults <= whole.faults
