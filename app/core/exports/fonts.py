"""Fonts of the PDF exports: Noto Sans (Latin, Greek, Cyrillic, Devanagari) and Noto Sans Arabic.

The packages ship variable fonts. A document gets an instance of each weight with just the characters that it shows,
which takes a fraction of a second where the whole font would take four.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

REGULAR, BOLD = 400, 700

#: Slightly narrow, for tables.
WIDTH = 87.5

NOTO_SANS = str(files("fontpkg_noto_sans") / "files" / "NotoSans[wdth,wght].ttf")
NOTO_SANS_ARABIC = str(files("fontpkg_noto_sans_arabic") / "files" / "NotoSansArabic[wdth,wght].ttf")

#: Scripts whose letters join or move: Hebrew to Syriac and Thaana, and those of India. They need shaping.
COMPLEX = range(0x0590, 0x0E00)

#: Tables that only shaping reads, and those of a variable font that an instance has no use for.
FOR_SHAPING = ["GSUB", "GPOS", "GDEF"]
VARIABLE = ["HVAR", "MVAR", "STAT"]


#: Stands for a character that neither font has.
UNKNOWN = "\ufffd"


def legible(text: str) -> str:
    """The text with a mark in place of every character that could not be shown."""
    if text.isascii():
        return text
    known = covered(NOTO_SANS) | covered(NOTO_SANS_ARABIC)
    return "".join(character if character == "\n" or ord(character) in known else UNKNOWN for character in text)


def is_complex(text: str) -> bool:
    return not text.isascii() and any(ord(character) in COMPLEX for character in text)


@lru_cache
def covered(font: str) -> frozenset[int]:
    """The code points that a font can show."""
    with _opened(font) as opened:
        return frozenset(opened.getBestCmap())


@lru_cache(maxsize=16)
def instance(font: str, weight: int, characters: frozenset[int]) -> bytes:
    """A small TrueType font with these characters in one weight."""
    shaped = not characters.isdisjoint(COMPLEX)
    options = subset.Options(layout_features=["*"] if shaped else [], notdef_outline=True)
    options.drop_tables += VARIABLE if shaped else VARIABLE + FOR_SHAPING
    with _opened(font) as opened:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(opened)
        small = instancer.instantiateVariableFont(opened, {"wght": weight, "wdth": WIDTH})
        buffer = BytesIO()
        small.save(buffer)
    return buffer.getvalue()


def _opened(font: str) -> TTFont:
    # From memory: fontTools keeps a file open in what it derives from it.
    return TTFont(BytesIO(Path(font).read_bytes()), lazy=True)
