"""Tests that an act on reminders beside one on something else leaves what one of their two orders leaves."""

from itertools import product

import pytest

from tests.races.acts import OTHERS, REMINDERS
from tests.races.pairing import assert_as_one_after_the_other

pytestmark = [pytest.mark.takes(seconds=120), pytest.mark.processes]


def test_acts_on_two_subjects_at_once_leave_what_one_after_the_other_leaves(world, pairs):
    assert_as_one_after_the_other(world, pairs, product(REMINDERS, OTHERS))
