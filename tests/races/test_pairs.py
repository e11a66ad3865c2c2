"""Tests that two acts at the same moment leave what one of their two orders leaves, and that three leave sound rows."""

from itertools import combinations, combinations_with_replacement
from random import Random

import pytest

from tests.races.acts import ACTS
from tests.races.sound import wrong_rows

pytestmark = [pytest.mark.takes(seconds=200), pytest.mark.processes]

#: Number of tests that share the pairs, so that several processes run them.
SHARES = 8
THREES = 60
#: Pairs that may leave something else than their two orders, and why.
OTHERWISE = {
    # A message is read before its lock is taken, and it is the person's own last word.
    ("tap_skip", "hear_sudah"),
    ("answer_done", "hear_sudah"),
    ("hear_sudah", "delete_reminder"),
    ("hear_sudah", "delete_siti"),
    # Bells that are added in the moment of the wish to leave stay. The renderer leaves them out.
    ("snooze", "leave"),
    ("top_up", "leave"),
    # A drain commits after each delivery, and its texts are read without a lock.
    *((act.name, "drain_urgent") for act in ACTS),
    *(("drain_urgent", act.name) for act in ACTS),
}


def test_each_act_alone_succeeds_and_leaves_sound_rows(world, pairs):
    for act in ACTS:
        call = act.make(world)
        [told], _ = pairs.left_by(lambda: [world.do(call)])  # noqa: B023  # called at once
        assert told[0] == act.status, (act.name, told)


@pytest.mark.parametrize("share", range(SHARES))
def test_two_acts_at_once_leave_what_one_after_the_other_leaves(world, pairs, share):
    faults = []
    for one, other in list(combinations_with_replacement(ACTS, 2))[share::SHARES]:
        a = one.make(world)
        b = a if one is other else other.make(world)
        is_compared = (one.name, other.name) not in OTHERWISE
        # A fault shows twice. A difference that shows once is one of the clock, for example at a full ten minutes.
        if pairs.faults(a, b, is_compared) and (found := pairs.faults(a, b, is_compared)):
            faults += [f"{one.name} & {other.name}: {fault}" for fault in found]
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("share", range(SHARES))
def test_three_acts_at_once_leave_sound_rows(world, pairs, share):
    threes = Random(1).sample(list(combinations(ACTS, 3)), THREES)
    for acts in threes[share::SHARES]:
        calls = [act.make(world) for act in acts]
        answers = world.meet(calls)
        told = [f"{act.name}: {answer}" for act, answer in zip(acts, answers, strict=True)]
        assert not [answer for answer in answers if answer.status >= 500], told
        assert not wrong_rows(world), told
        assert not pairs.overlap.deadlocks, told
        pairs.restore()
