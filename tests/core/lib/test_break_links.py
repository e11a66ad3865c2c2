"""Text that people wrote, as it appears in messages."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app.core.lib.break_links import break_links, message_title

BROKEN = [
    ("klaim.help", "klaim. help"),
    ("https://judi.com/menang?x=1", "https judi. com/menang?x=1"),
    ("siti@judi.co.id", "siti judi. co. id"),
    ("judi.рф", "judi. рф"),
    ("中文。中国", "中文。 中国"),
    ("judi．com", "judi． com"),
    ("judi.\u200bcom", "judi. \u200bcom"),
    ("Metformin 500mg.Glimepirid 2mg", "Metformin 500mg. Glimepirid 2mg"),
    ("dr.Ani, Sp.PD", "dr. Ani, Sp. PD"),
    ("Sakit...apa ini?", "Sakit... apa ini?"),
    ("@", "@"),
]


UNCHANGED = ["Siti Aminah", "dr. Ani", "2.5mg", "Rp1.500.000", "07.30", "24.11.2026", "1-0-1", "catatan:penting", ""]


def test_a_link_is_broken_by_a_blank_and_nothing_else_is_changed():
    expected = {**dict(BROKEN), **{text: text for text in UNCHANGED}, " Metformin\n\n500 mg ": "Metformin 500 mg"}
    assert {text: break_links(text) for text in expected} == expected


@given(st.text("aB1é中рф.。．:/@- \n\u200b\u0301", max_size=40))
def test_a_text_keeps_all_words_and_is_broken_once(text):
    broken = break_links(text)
    assert break_links(broken) == broken
    assert re.findall(r"\w", broken) == re.findall(r"\w", text)


TITLES = [
    ("WA 0812-3456-7890", "WA"),
    ("+62 812 3456 7890 atau 021-5005678", "atau"),
    ("wa.me/6281234567890", "wa. me/"),
    ("Resi 11500567 lewat 1500567", "Resi 11500567 lewat"),
    ("Resi 123456789", "Resi 123456789"),
    ("NIK 3201234567890001", "NIK 3201234567890001"),
    ("Dana Rp1.500.000.000 pada 24.11.2026", "Dana Rp1.500.000.000 pada 24.11.2026"),
    ("081234567890", ""),
    ("m" * 80, "m" * 80),
    ("m" * 81, "m" * 79 + "…"),
]


def test_a_title_loses_phone_numbers_alone_and_ends_at_80_characters():
    assert [(title, message_title(title)) for title, _ in TITLES] == TITLES
