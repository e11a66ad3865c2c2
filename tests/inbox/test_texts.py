"""Tests of our fixed answers: they are plain and short, and those to a person in doubt name the emergency numbers."""

import pytest

from app.inbox import texts
from tests.helpers.language import assert_readable

FIXED = {
    name: text for name, text in vars(texts).items() if name.isupper() and name[0] != "_" and str(text).endswith(".")
}


@pytest.mark.parametrize("name", FIXED)
def test_a_text_is_plain_indonesian(name):
    assert_readable(FIXED[name])
    assert len(FIXED[name]) <= 350


@pytest.mark.parametrize("name", ["HELP", "DOUBT", "DOUBT_ANSWERED", "CONDOLENCE"])
def test_a_text_to_a_person_in_doubt_names_the_emergency_numbers(name):
    assert "119 ext. 8" in FIXED[name]
    assert name == "CONDOLENCE" or "Ini balasan otomatis" in FIXED[name]
