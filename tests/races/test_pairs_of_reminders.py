"""Tests that two acts on reminders at the same moment leave what one of their two orders leaves."""

from itertools import combinations_with_replacement

import pytest

from tests.races.acts import REMINDERS
from tests.races.pairing import assert_as_one_after_the_other

pytestmark = [pytest.mark.takes(seconds=80), pytest.mark.processes]


def test_two_acts_on_reminders_at_once_leave_what_one_after_the_other_leaves(world, pairs):
    assert_as_one_after_the_other(world, pairs, combinations_with_replacement(REMINDERS, 2))
