"""Fonts of the PDF exports: Noto Sans, regular and bold, for Latin, Greek and Cyrillic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

from fontTools.ttLib import TTFont

FOLDER = Path(__file__).parent / "data"

#: The fonts have 87.5% of the normal width, so that more text fits in a table.
NOTO_SANS = FOLDER / "NotoSans.woff"
NOTO_SANS_BOLD = FOLDER / "NotoSans-Bold.woff"

REPLACEMENT = "\ufffd"


def replace_missing_glyphs(text: str) -> str:
    """Replace each character that the fonts do not contain."""
    if text.isascii() and text.isprintable():
        return text
    known = widths(NOTO_SANS)
    return "".join(each if each == "\n" or ord(each) in known else REPLACEMENT for each in text)


@cache
def widths(font: Path) -> Mapping[int, float]:
    """Return the width of each character by code point, as a part of the font size."""
    with TTFont(BytesIO(font.read_bytes()), lazy=True) as opened:
        unit, advances = opened["head"].unitsPerEm, opened["hmtx"]
        return {code: advances[glyph][0] / unit for code, glyph in opened.getBestCmap().items()}
