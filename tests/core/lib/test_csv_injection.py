"""Cells of CSV files. An apostrophe is added before a text that a spreadsheet could run as a formula."""

from app.core.lib.csv_injection import guarded

CELLS = [
    ("Siti; Budi", "Siti; Budi"),
    ("a=b, c-d", "a=b, c-d"),
    ("", ""),
    ("=1+1", "'=1+1"),
    ("-5", "'-5"),
    ("\t=1", "'\t'=1"),
    ("Budi;=cmd|' /C calc'!A0", "Budi;'=cmd|' /C calc'!A0"),
    ("Budi; =1", "Budi; '=1"),
    ('Budi;"=1', "Budi;\"'=1"),
    ("a\t@SUM(1)", "a\t'@SUM(1)"),
    ("a\n-1\r\n+2", "a\n'-1\r\n'+2"),
    (";;=1;+;=2", ";;'=1;'+;'=2"),
]


def test_an_apostrophe_is_added_where_a_cell_could_run_as_a_formula():
    assert [(text, guarded(text)) for text, _ in CELLS] == CELLS
