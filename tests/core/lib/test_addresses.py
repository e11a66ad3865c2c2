"""Names and titles leave in messages without the addresses that strangers wrote into them."""

from __future__ import annotations

import time

import pytest

from app.core.lib.addresses import without_addresses
from tests.helpers.offenders import assert_none

CASES = [
    # addresses
    ("Siti https://contoh.com/hadiah?x=1 Aminah", "Siti Aminah"),
    ("http://10.0.0.1:8080/a", ""),
    ("HTTPS://CONTOH.ZZZ", ""),
    ("hxxp://contoh.zzz menang", "menang"),
    ("intent://contoh", ""),
    ("www.contoh.zzz hadiah", "hadiah"),
    ("Klik judi.com sekarang", "Klik sekarang"),
    ("Klik JUDI.Com/menang!", "Klik"),
    ("bit.ly/abc", ""),
    ("s.id/abc", ""),
    ("t.me/abc", ""),
    ("wa.me/6281234567890", ""),
    ("toko.my.id", ""),
    ("toko.co.id:8080/x", ""),
    ("judi.com.Menang", ""),
    ("(judi.com)", "()"),
    ("judi。com", ""),
    ("judi．com", ""),
    ("xn--mgba.xn--p1ai", ""),
    ("пример.com", ""),
    ("siti@contoh.com menang", "menang"),
    ("Budi;judi.net", "Budi;"),
    ("1.2.3.4/x", ""),
    ("4d.win", ""),
    ("Hadiah\nhttps://a.b\n\ndi sini", "Hadiah di sini"),
    # names and titles
    ("Siti Aminah", "Siti Aminah"),
    ("dr. Ani", "dr. Ani"),
    ("dr.Ani Sp.PD", "dr.Ani Sp.PD"),
    ("Drs. H. Budi, M.Si", "Drs. H. Budi, M.Si"),
    ("Rina S.Ag., M.Kes., S.Kep", "Rina S.Ag., M.Kes., S.Kep"),
    ("Ns. Dewi A.Md.Keb", "Ns. Dewi A.Md.Keb"),
    ("M.M. Yusuf S.H.", "M.M. Yusuf S.H."),
    ("Nur'aini-Putri", "Nur'aini-Putri"),
    ("Menu 1.500 kalori, 2.5 ml", "Menu 1.500 kalori, 2.5 ml"),
    ("Dosis 500.mg", "Dosis 500.mg"),
    ("Sakit...apa ini?", "Sakit...apa ini?"),
    ("Sudah sembuh.Terima kasih", "Sudah sembuh.Terima kasih"),
    ("dan/atau 24/7", "dan/atau 24/7"),
    ("jam 07.00-08.00", "jam 07.00-08.00"),
    ("😀 محمد بن عبد الله", "😀 محمد بن عبد الله"),
    ("", ""),
]


def test_addresses_go_and_names_stay() -> None:
    assert_none(
        (
            f"{text!r}: {left!r}"
            for given, expected in CASES
            for text in (given, expected)
            if (left := without_addresses(text)) != expected
        ),
        "Something else is left:",
    )


@pytest.mark.parametrize("text", ["a." * 20_000, "a@" * 20_000, "1." * 20_000, "a-" * 20_000 + ".", "www." * 10_000])
def test_a_hostile_text_takes_no_time(text: str) -> None:
    started = time.process_time()
    without_addresses(text)
    assert time.process_time() - started < 2
