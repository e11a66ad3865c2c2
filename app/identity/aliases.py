"""Reserved pseudonyms. Nobody may use a pseudonym that looks like an office or a profession that people trust."""

from __future__ import annotations

import re
import unicodedata

#: Reserved words. A pseudonym is refused if one of its words starts or ends with a reserved word, or if the pseudonym
#: without blanks starts with a reserved word. Terms of two words, such as `customer service`, have no blank here.
RESERVED = (
    "admin", "moderator", "kemenkes", "kementerian", "dokter", "perawat", "apoteker", "petugas", "operator",
    "customerservice", "customercare", "layananpelanggan",
)  # fmt: skip

#: Look-alike characters, by the Latin letter that they resemble. Accented, full-width and mathematical letters are
#: missing, because Unicode normalisation converts them.
_ALIKE = {
    "a": "ａаαɑᴀ4@", "b": "вьβʙ8", "c": "сϲᴄƈ", "d": "ԁᴅđɗ", "e": "еєεɛᴇ3", "f": "ꜰғƒ", "g": "ɡԍɢ9", "h": "нһʜħ",
    "i": "іɪιıӏ1|!lʟłľ", "j": "јᴊ", "k": "кκᴋ", "m": "мᴍ", "n": "пηɴոν", "o": "оοᴏ0øօ", "p": "рρᴘ", "r": "гʀᴦ",
    "s": "ѕꜱ5$ʂ", "t": "тτᴛ7ŧ", "u": "υᴜս", "v": "ᴠѵ", "w": "ѡᴡω", "x": "хχ", "y": "уүγʏ", "z": "ᴢʐ",
}  # fmt: skip
#: Code point of the letter A in each of three alphabets: letters in circles, letters in squares, and letters of flags.
#: Unicode normalisation does not change the letters of these alphabets.
_ENCLOSED = (0x1F150, 0x1F170, 0x1F1E6)
_LATIN = str.maketrans(
    {other: letter for letter, others in _ALIKE.items() for other in others}
    | {chr(first + n): chr(ord("a") + n) for first in _ENCLOSED for n in range(26)}
)
_STRETCHED = re.compile(r"(.)\1+")


def is_reserved(alias: str) -> bool:
    """Return whether a pseudonym contains a reserved word, even if it is written with look-alike letters."""
    words = re.findall(r"[a-z]+", _plain(alias))
    together = "".join(words)
    return together.startswith(_RESERVED) or any(
        word.startswith(_RESERVED) or word.endswith(_RESERVED) for word in words
    )


def _plain(text: str) -> str:
    """Return a text in lower-case Latin letters, without look-alike and repeated letters."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_LATIN)).casefold().translate(_LATIN)
    seen = "".join(each for each in decomposed if unicodedata.category(each) not in ("Mn", "Me", "Cf"))
    return _STRETCHED.sub(r"\1", seen.replace("rn", "m").replace("vv", "w"))


_RESERVED = tuple(_plain(word) for word in RESERVED)
