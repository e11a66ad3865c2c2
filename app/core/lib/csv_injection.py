"""Protection against formulas in exported texts. A spreadsheet does not run a text that starts with an apostrophe.

A spreadsheet recognizes a formula by the first character of a cell. The separator of cells depends on the program: `;`
with Indonesian settings, tab in others. Text after a separator or a line break therefore counts as the start of a cell.
Spaces and quotes before the text do not change this.
"""

from __future__ import annotations

import re

#: Characters that can start a formula at the beginning of a cell.
STARTS = ("\t", "\r", "+", "-", "=", "@")

_INNER = re.compile(r'([;\t\r\n][ "]*)([-=+@])')
_INNER_BYTES = re.compile(_INNER.pattern.encode())


def is_dangerous(text: str) -> bool:
    """Return whether a spreadsheet could run a part of the text as a formula."""
    return text.startswith(STARTS) or _INNER.search(text) is not None


def guarded(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet could run as a formula."""
    if ";" in text or "\n" in text or "\t" in text or "\r" in text:
        text = _INNER.sub(r"\1'\2", text)
    return "'" + text if text.startswith(STARTS) else text


def guarded_inside(row: bytes) -> bytes:
    """Return a CSV row with an apostrophe before each part inside a cell that could run as a formula.

    `row` includes its line break. The start of a cell is not checked, because a minus there may belong to a number.
    """
    if b";" in row or row.count(b"\n") > 1 or b"\t" in row or b"\r" in row:
        return _INNER_BYTES.sub(rb"\1'\2", row)
    return row
