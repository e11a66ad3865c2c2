"""Tests that each act alone succeeds, and that three acts at the same moment leave sound rows."""

from itertools import combinations
from random import Random

import pytest

from tests.races.acts import ACTS
from tests.races.sound import wrong_rows

pytestmark = pytest.mark.processes

THREES = 60


def test_each_act_alone_succeeds_and_leaves_sound_rows(world, pairs):
    for act in ACTS:
        call = act.make(world)
        [told], _ = pairs.left_by(lambda: [world.do(call)])  # noqa: B023  # called at once
        assert told[0] == act.status, (act.name, told)


def test_three_acts_at_once_leave_sound_rows(world, pairs):
    for acts in Random(1).sample(list(combinations(ACTS, 3)), THREES):
        calls = [act.make(world) for act in acts]
        answers = world.meet(calls)
        told = [f"{act.name}: {answer}" for act, answer in zip(acts, answers, strict=True)]
        assert not [answer for answer in answers if answer.status >= 500], told
        assert not wrong_rows(world), told
        assert not pairs.overlap.deadlocks, told
        pairs.restore()
