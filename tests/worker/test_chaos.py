"""Short version of `make chaos`: each kind of fault once, while reminders are due."""

import sys
from math import inf
from types import SimpleNamespace

import pytest

from bench.chaos import __main__ as program
from bench.chaos.kills import FAULTS, Kills
from bench.chaos.outcome import ExperimentPlan

pytestmark = [pytest.mark.takes(seconds=75), pytest.mark.processes]


def test_reminders_survive_one_of_each_fault():
    """`make chaos` also measures how late messages are and how many are sent twice."""
    plan = ExperimentPlan(reminders=80, seconds=8, faults=len(FAULTS))
    with Kills.opened(plan) as world:
        missed = [result for result in world.play(latest_s=inf) if not result.holds]
    assert not missed


def test_the_program_runs_the_named_experiments_or_all_short_ones(monkeypatch, capsys):
    ran = []
    for name in program.EXPERIMENTS:
        fake = SimpleNamespace(WHOLE="whole", SHORT="short", run=lambda plan, name=name: ran.append((name, plan)) or [])
        monkeypatch.setitem(program.EXPERIMENTS, name, fake)
    for words in ([], ["poison", "--short"]):
        monkeypatch.setattr(sys, "argv", ["chaos", *words])
        assert program.main() == 0
    assert ran == [("kills", "whole"), ("poison", "whole"), ("backlog", "whole"), ("poison", "short")]
    monkeypatch.setattr(sys, "argv", ["chaos", "floods"])
    with pytest.raises(SystemExit):
        program.main()
    assert "no experiment is named floods" in capsys.readouterr().err
