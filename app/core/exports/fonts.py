"""Fonts of the PDF exports: Noto Sans, regular and bold, for Latin, Greek and Cyrillic."""

from __future__ import annotations

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
    if text.isascii():
        return text
    known = covered(NOTO_SANS)
    return "".join(each if each == "\n" or ord(each) in known else REPLACEMENT for each in text)


@cache
def covered(font: Path) -> frozenset[int]:
    with TTFont(BytesIO(font.read_bytes()), lazy=True) as opened:
        return frozenset(opened.getBestCmap())
