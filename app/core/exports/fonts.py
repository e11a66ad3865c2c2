"""Fonts of the PDF exports: Noto Sans, and for each character that it lacks the first other font that has it.

Those others are Noto Sans for some twenty scripts from Arabic to Thai, Noto's signs and emoji, and WenQuanYi Micro Hei
for Chinese, Japanese and Korean. A document gets a small instance of each font that it needs, with just the characters
that it shows, which takes a fraction of a second where the whole font would take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

REGULAR, BOLD = 400, 700

#: Slightly narrow, for tables, where a font can be.
WIDTH = 87.5

NOTO_SANS = str(files("fontpkg_noto_sans") / "files" / "NotoSans[wdth,wght].ttf")
CJK = str(files("paperang_p2_fonts_cjk") / "fonts" / "wqy-microhei.ttc")

#: Scripts whose letters join or move, which needs shaping: Hebrew to Tibetan with all of India between, Myanmar, Khmer.
COMPLEX = (range(0x0590, 0x10A0), range(0x1780, 0x1800))

#: Tables that only shaping reads, and those of a font's axes and its editor, which an instance has no use for.
FOR_SHAPING = ["GSUB", "GPOS", "GDEF"]
NEEDLESS = ["HVAR", "MVAR", "STAT", "FFTM"]

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
def instance(font: str, weight: int, characters: frozenset[int]) -> bytes:
    """A small TrueType font with these characters in one weight, as far as the font has several."""
    shaped = is_complex("".join(map(chr, characters)))
    options = subset.Options(layout_features=["*"] if shaped else [], notdef_outline=True)
    options.drop_tables += NEEDLESS if shaped else NEEDLESS + FOR_SHAPING
    with _opened(font) as opened:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(opened)
        axes = {axis.axisTag for axis in opened["fvar"].axes} if "fvar" in opened else set()
        wanted = {axis: value for axis, value in {"wght": weight, "wdth": WIDTH}.items() if axis in axes}
        small = instancer.instantiateVariableFont(opened, wanted) if wanted else opened
        buffer = BytesIO()
        small.save(buffer)
    return buffer.getvalue()


def _fonts() -> Iterator[str]:
    """From the most to the least likely one."""
    yield NOTO_SANS
    yield from _others()
    yield CJK


@cache
def _others() -> tuple[str, ...]:
    folder = Path(str(files("manimgx_fonts")))
    return tuple(str(path) for path in sorted(folder.glob("Noto*.ttf")) if not path.name.startswith("NotoSans-Italic"))


def _opened(font: str) -> TTFont:
    # From memory: fontTools keeps a file open in what it derives from it.
    return TTFont(BytesIO(Path(font).read_bytes()), fontNumber=0, lazy=True)
