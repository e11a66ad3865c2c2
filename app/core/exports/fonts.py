"""Fonts of the PDF exports: Noto Sans, and for each character that it lacks the first other font that has it.

Those others are Noto Sans for some twenty-five scripts from Arabic to Thai, six of Indonesia among them, Noto's signs
and emoji, and WenQuanYi Micro Hei for Chinese, Japanese and Korean. They lie in `data/`, whose README says where they
come from. A document gets a small instance of each font that it needs, with just the characters that it shows, which
takes a fraction of a second where the whole font would take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FOLDER = Path(__file__).parent / "data"

#: Slightly narrow, for tables.
NOTO_SANS = str(FOLDER / "NotoSans.woff")
NOTO_SANS_BOLD = str(FOLDER / "NotoSans-Bold.woff")
CJK = str(FOLDER / "WenQuanYiMicroHei.woff")

#: Scripts whose letters join or move, which needs shaping.
COMPLEX = (
    range(0x0590, 0x10A0),  # Hebrew to Tibetan with all of India between, Myanmar
    range(0x1780, 0x1800),  # Khmer
    range(0x1A00, 0x1A20),  # Buginese
    range(0x1B00, 0x1C00),  # Balinese, Sundanese, Batak
    range(0x1CC0, 0x1CD0),  # more of Sundanese
    range(0xA930, 0xA960),  # Rejang
    range(0xA980, 0xA9E0),  # Javanese
)

#: Tables that only shaping reads.
FOR_SHAPING = ["GSUB", "GPOS", "GDEF"]

#: Stands for a character that no font has.
UNKNOWN = "\ufffd"


def legible(text: str) -> str:
    """The text with a mark in place of every character that could not be shown."""
    if text.isascii():
        return text
    return "".join(each if each == "\n" or font_of(ord(each)) else UNKNOWN for each in text)


def is_plain(text: str) -> bool:
    """Whether the main font shows all of it, letter by letter."""
    return text.isascii() or (covered(NOTO_SANS).issuperset(map(ord, text)) and not is_complex(text))


def is_complex(text: str) -> bool:
    return any(ord(character) in script for character in text for script in COMPLEX)


@lru_cache(maxsize=16_384)
def font_of(character: int) -> str | None:
    """The font that shows a code point; None where none does."""
    return next((font for font in _fonts() if character in covered(font)), None)


@cache
def covered(font: str) -> frozenset[int]:
    """The code points that a font can show."""
    with _opened(font) as opened:
        return frozenset(opened.getBestCmap())


@lru_cache(maxsize=16)
def instance(font: str, characters: frozenset[int]) -> bytes:
    """A small TrueType font with these characters."""
    shaped = is_complex("".join(map(chr, characters)))
    options = subset.Options(layout_features=["*"] if shaped else [], notdef_outline=True)
    if not shaped:
        options.drop_tables += FOR_SHAPING
    with _opened(font) as opened:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(opened)
        opened.flavor = None
        buffer = BytesIO()
        opened.save(buffer)
    return buffer.getvalue()


def _fonts() -> Iterator[str]:
    """From the most to the least likely one."""
    yield NOTO_SANS
    yield from _others()
    yield CJK


@cache
def _others() -> tuple[str, ...]:
    own = (NOTO_SANS, NOTO_SANS_BOLD, CJK)
    return tuple(font for font in map(str, sorted(FOLDER.glob("*.woff"))) if font not in own)


def _opened(font: str) -> TTFont:
    # From memory: fontTools keeps a file open in what it derives from it.
    return TTFont(BytesIO(Path(font).read_bytes()), lazy=True)
