"""Text that people wrote, as it appears in messages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.lib.break_links import break_links


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("klaim.help", "klaim. help"),
        ("https://judi.com/menang?x=1", "https judi. com/menang?x=1"),
        ("siti@judi.co.id", "siti judi. co. id"),
        ("judi.рф", "judi. рф"),
        ("中文。中国", "中文。 中国"),
        ("judi．com", "judi． com"),
        ("judi.\u200bcom", "judi. \u200bcom"),
        ("Metformin 500mg.Glimepirid 2mg", "Metformin 500mg. Glimepirid 2mg"),
        ("dr.Ani, Sp.PD", "dr. Ani, Sp. PD"),
        ("3 x @ 1 tablet", "3 x 1 tablet"),
        ("Sakit...apa ini?", "Sakit... apa ini?"),
        ("@", "@"),
    ],
)
def test_a_link_is_broken_by_a_blank(text: str, broken: str) -> None:
    assert break_links(text) == broken


@pytest.mark.parametrize(
    "text", ["Siti Aminah", "dr. Ani", "2.5mg", "Rp1.500.000", "07.30", "24.11.2026", "1-0-1", "catatan:penting", ""]
)
def test_a_text_without_a_link_is_not_changed(text: str) -> None:
    assert break_links(text) == text


def test_a_text_becomes_one_line() -> None:
    assert break_links(" Metformin\n\n500 mg ") == "Metformin 500 mg"


@given(st.text(max_size=40))
def test_a_text_keeps_all_words_and_is_broken_once(text: str) -> None:
    broken = break_links(text)
    assert break_links(broken) == broken
    assert re.findall(r"\w", broken) == re.findall(r"\w", text)
