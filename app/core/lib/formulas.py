"""Texts of strangers in spreadsheets: an apostrophe keeps them from running as formulas.

A program takes a cell for a formula by its first character. Which text is a cell, depends on the program too: one that
is set to Indonesian separates cells at `;`, and others do at tabs. So what follows such a character, or a line break,
counts as the beginning of a cell, blanks and quotes before the formula included.
"""

from __future__ import annotations

import re

#: A cell that begins so could run: tab, carriage return, and these.
STARTS = ("\t", "\r", "+", "-", "=", "@")

_INNER = re.compile(r'([;\t\r\n][ "]*)([-=+@])')
_INNER_BYTES = re.compile(_INNER.pattern.encode())


def is_dangerous(text: str) -> bool:
    """Whether a spreadsheet could run a part of the text."""
    return text.startswith(STARTS) or _INNER.search(text) is not None


def guarded(text: str) -> str:
    """The text with an apostrophe before everything in it that could run."""
    if ";" in text or "\n" in text or "\t" in text or "\r" in text:
        text = _INNER.sub(r"\1'\2", text)
    return "'" + text if text.startswith(STARTS) else text


def guarded_inside(row: bytes) -> bytes:
    """A row of CSV, its line break at the end included, with an apostrophe before what could run within its cells.

    The beginnings of its cells are not looked at: there a minus may belong to a number.
    """
    if b";" in row or row.count(b"\n") > 1 or b"\t" in row or b"\r" in row:
        return _INNER_BYTES.sub(rb"\1'\2", row)
    return row
