"""Cells of CSV files. An apostrophe is added before a text that a spreadsheet could run as a formula."""

from __future__ import annotations

import pytest

from app.core.lib.csv_injection import guarded, guarded_inside, is_dangerous

CELLS = [
    ("Siti; Budi", "Siti; Budi"),
    ("a=b, c-d", "a=b, c-d"),
    ("=1+1", "'=1+1"),
    ("\t=1", "'\t'=1"),
    ("Budi;=cmd|' /C calc'!A0", "Budi;'=cmd|' /C calc'!A0"),
    ("Budi; =1", "Budi; '=1"),
    ('Budi;"=1', "Budi;\"'=1"),
    ("a\t@SUM(1)", "a\t'@SUM(1)"),
    ("a\n-1\r\n+2", "a\n'-1\r\n'+2"),
    (";;=1;+;=2", ";;'=1;'+;'=2"),
    ("a;'=1", "a;'=1"),
]


@pytest.mark.parametrize(("text", "expected"), CELLS)
def test_an_apostrophe_is_added_where_a_cell_could_run_as_a_formula(text: str, expected: str) -> None:
    assert guarded(text) == expected
    assert is_dangerous(text) is (text != expected)
    assert not is_dangerous(guarded(text).removeprefix("'")) or text.startswith(("=", "\t"))


def test_guarded_inside_changes_only_text_inside_quoted_cells() -> None:
    assert guarded_inside(b'-5,"a;=1\nb\n@c",-2.5\n') == b"-5,\"a;'=1\nb\n'@c\",-2.5\n"
    assert guarded_inside(b"-5,-6\n") == b"-5,-6\n"
    assert guarded_inside(b'1,"a;""=1"\n') == b'1,"a;""\'=1"\n'
