"""Search for crisis phrases in texts. Before the search, other spellings and slang are replaced by one plain spelling.

For example, `GUEEE PENGEN MATIII...` (slang for "I want to die") becomes `saya ingin mati`. A phrase matches whole
words only, also over punctuation. The word `mati` ("dead") alone is no phrase, because people also use it for a power
cut (`mati lampu`). Only a negation right before a phrase cancels it. There are no other exceptions, because help that
nobody needs costs less than a cry for help that is not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

#: Other spellings and slang forms of words, by the plain spelling that replaces them.
SPELLINGS = {
    "ingin": "pengen pengin pingin pgn pngn pngin pngen kepengen kepingin kepengin kepingen hayang",
    "mau": "mo maw mw mao",
    "saya": "sy sya gue gua gw gwe gwa w aku ak aq akuh ku q aing awak ane",
    "tidak": "tak tdk ga gak gk g nggak ngga nga enggak engga kagak kaga ndak nda ora gag gada tiada",
    "bunuh": "bunu bnuh bnh bunoh",
    "diri": "dri driku diriku dirimu dirinya",
    "mati": "mti matek matik modar mokad mokat mampus koid koit metong",
    "hidup": "idup hdup hdp idop urip hidupku idupku hidupnya",
    "sudah": "udah udh dah sdh uda suda",
    "saja": "aja ja ae wae sajalah ajalah ajah aj",
    "lagi": "lg lgi lagih",
    "capek": "cape cpe cpek capai lelah letih",
    "bosan": "bosen bsn jenuh",
    "lebih": "lbh lebi",
    "baik": "baek bae bagus",
    "mending": "mendingan mnding",
    "akhiri": "mengakhiri ngakhiri akhirin ngakhirin mengahiri akiri",
    "sakiti": "menyakiti nyakiti nyakitin menyakitin sakitin",
    "lukai": "melukai nglukain ngelukain lukain",
    "sayat": "menyayat nyayat iris mengiris ngiris silet menyilet nyilet",
    "lompat": "loncat lompt melompat meloncat terjun",
    "minum": "menenggak nenggak tenggak minom",
    "nyawa": "nyawaku",
    "tangan": "tanganku lengan lenganku pergelangan",
    "nadi": "nadiku urat",
    "semua": "semuanya smua smuanya",
    "dunia": "dunya",
    "jangan": "jgn jangn jngan",
    "bukan": "bkn bukn",
    "belum": "blm blum belom blom",
    "kalau": "kalo klo kl",
    "banget": "bgt bngt",
    "sekali": "skali",
}  # fmt: skip

#: Words without meaning of their own. A phrase also matches if some of them stand between its words.
LEFT_OUT = frozenset({"saya", "saja", "sekali", "banget", "rasanya", "bu", "pak", "kak", "dok"})

#: A phrase does not count if a negation stands right before it: `tidak ingin mati` expresses fear. `jangan` twice in a
#: row means "perhaps", so the phrase counts: `jangan jangan ingin mati`.
NOT_NEGATED = r"(?<!\btidak )(?<!\bbukan )(?<!\bbelum )(?<!(?<!\bjangan\s)\bjangan )"

#: Unicode categories of characters that are removed from texts: accents on letters, and invisible characters.
UNSEEN = frozenset({"Mn", "Me", "Cf"})

_LETTERS_FOR_DIGITS = str.maketrans("013456789@$", "oieasgtbgas")
_WORD = re.compile(r"[a-z0-9@$]+")
_STRETCHED = re.compile(r"(.)\1+")
#: A 2 after a word repeats the word: `bangun2`.
_TWICE = re.compile(r"(?<![a-z0-9@$])([a-z]+)2(?![a-z0-9@$])")
#: Four or more single letters with separators: `m a t i`, `b.u.n.u.h`.
_SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:[\W_]{1,3}[a-z]){3,}(?![a-z0-9])")
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_BLANKS = re.compile(r"[^\S\n\r]+")


def _squeezed(word: str) -> str:
    return _STRETCHED.sub(r"\1", word)


_ONE_SPELLING = {_squeezed(other): word for word, others in SPELLINGS.items() for other in others.split()}


def plain(text: str) -> str:
    """Return the words of a text in plain spelling, in lower case, without accents and repeated letters.

    Digits within words become letters. A line break stands between two words with punctuation between them.
    """
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(character for character in text if unicodedata.category(character) not in UNSEEN)
    text = _SPACED.sub(lambda match: re.sub(r"[\W_]", "", match[0]), text)
    text = _WORD.sub(lambda match: _spelled(match[0]), _TWICE.sub(r"\1 \1", text))
    return _BETWEEN_WORDS.sub(lambda match: " " if _BLANKS.fullmatch(match[0]) else "\n", text)


def _spelled(word: str) -> str:
    if not word.isdigit():
        word = word.translate(_LETTERS_FOR_DIGITS)
    word = _squeezed(word)
    return _ONE_SPELLING.get(word, word)


def contains_phrase(phrases: Iterable[str], *texts: str) -> bool:
    """Return whether a text contains a phrase without a negation before it."""
    pattern = _pattern(tuple(phrases))
    return any(pattern.search(plain(text)) for text in texts)


@lru_cache(maxsize=8)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of plain texts that contain a phrase. Each phrase is also one word, as in `bunuhdiri`.

    Words of `LEFT_OUT` may stand between the words of a phrase, unless the phrase itself contains such a word.
    """
    left_out = rf"\s(?:(?:{'|'.join(LEFT_OUT)})\s)*"
    forms: set[str] = set()
    for phrase in phrases:
        words = plain(phrase).split()
        forms |= {_squeezed("".join(words)), (r"\s" if LEFT_OUT.intersection(words) else left_out).join(words)}
    return re.compile(rf"{NOT_NEGATED}\b(?:{'|'.join(forms)})\b")
