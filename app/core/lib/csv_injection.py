"""Protection against formulas in spreadsheets: an apostrophe keeps text from other people from running as a formula.

A spreadsheet detects a formula by the first character of a cell. The cell separator depends on the program: `;` with
Indonesian settings, tab in others.
So text after a separator or a line break counts as the start of a cell, also after spaces and quotes.
"""

from __future__ import annotations

import re

#: First characters of a cell that could run as a formula.
STARTS = ("\t", "\r", "+", "-", "=", "@")

_INNER = re.compile(r'([;\t\r\n][ "]*)([-=+@])')
_INNER_BYTES = re.compile(_INNER.pattern.encode())


def is_dangerous(text: str) -> bool:
    """Return whether a spreadsheet could run a part of the text."""
    return text.startswith(STARTS) or _INNER.search(text) is not None


def guarded(text: str) -> str:
    """Return the text with an apostrophe before each part that could run."""
    if ";" in text or "\n" in text or "\t" in text or "\r" in text:
        text = _INNER.sub(r"\1'\2", text)
    return "'" + text if text.startswith(STARTS) else text


def guarded_inside(row: bytes) -> bytes:
    """Return a CSV row, including its line break, with an apostrophe before parts inside cells that could run.

    The start of a cell is not checked, because a minus there may belong to a number.
    """
    if b";" in row or row.count(b"\n") > 1 or b"\t" in row or b"\r" in row:
        return _INNER_BYTES.sub(rb"\1'\2", row)
    return row
