"""Search for crisis phrases in texts. Before the search, other spellings and slang are replaced by one plain spelling.

For example, `GUEEE PENGEN MATIII...` (slang for "I want to die") becomes `saya ingin mati`. A phrase matches whole
words only, also over punctuation. The word `mati` ("dead") alone is no phrase, because people also use it for a power
cut (`mati lampu`). Only a negation right before a phrase cancels it. There are no other exceptions, because help that
nobody needs costs less than a cry for help that is not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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

#: A phrase does not count if one of these words stands right before it: `tidak ingin mati` expresses fear.
NEGATIONS = frozenset({"tidak", "bukan", "belum", "jangan"})
#: Twice in a row, this word means "perhaps", so the phrase counts: `jangan jangan ingin mati`.
PERHAPS = "jangan"

#: Unicode categories of characters that are removed from texts: accents on letters, and invisible characters.
UNSEEN = frozenset({"Mn", "Me", "Cf"})

_LETTERS_FOR_DIGITS = str.maketrans("013456789@$", "oieasgtbgas")
_WORD = re.compile(r"[a-z0-9@$]+")
_STRETCHED = re.compile(r"(.)\1+")
#: A 2 after a word repeats the word: `bangun2`.
_TWICE = re.compile(r"([a-z]+)2")
#: Spaces on one line. Anything else between two words is punctuation.
_BLANKS = re.compile(r"[^\S\n\r]*")
#: Four or more single letters with separators: `m a t i`, `b.u.n.u.h`.
_SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:[\W_]{1,3}[a-z]){3,}(?![a-z0-9])")

#: The words of phrases, by the first word of the phrase.
_Phrases = Mapping[str, Sequence[tuple[str, ...]]]


@dataclass(frozen=True)
class _Word:
    """A word in plain spelling. `is_negated` is true if a negation stands right before it."""

    plain: str
    is_negated: bool


def _squeezed(word: str) -> str:
    return _STRETCHED.sub(r"\1", word)


_ONE_SPELLING = {_squeezed(other): word for word, others in SPELLINGS.items() for other in others.split()}


def plain(text: str) -> str:
    """Return the words of a text in plain spelling.

    Plain words are in lower case and have no accents or repeated letters. Digits within words become letters.
    """
    return " ".join(word.plain for word in _words(text))


def contains_phrase(phrases: Iterable[str], *texts: str) -> bool:
    """Return whether a text contains a phrase. Search all words, and then the words without those of `LEFT_OUT`."""
    by_first = _by_first_word(tuple(phrases))
    for text in texts:
        words = _words(text)
        if _is_in(words, by_first) or _is_in([word for word in words if word.plain not in LEFT_OUT], by_first):
            return True
    return False


def _words(text: str) -> list[_Word]:
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(character for character in text if unicodedata.category(character) not in UNSEEN)
    text = _SPACED.sub(lambda match: re.sub(r"[\W_]", "", match[0]), text)
    words: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        is_next = _BLANKS.fullmatch(text, end, match.start()) is not None
        twice = _TWICE.fullmatch(match[0])
        for word in (twice[1], twice[1]) if twice else (match[0],):
            words.append(_Word(_spelled(word), is_next and _ends_with_negation(words)))
            is_next = True
        end = match.end()
    return words


def _ends_with_negation(words: Sequence[_Word]) -> bool:
    last = [word.plain for word in words[-2:]]
    return bool(last) and last[-1] in NEGATIONS and last != [PERHAPS, PERHAPS]


def _spelled(word: str) -> str:
    if not word.isdigit():
        word = word.translate(_LETTERS_FOR_DIGITS)
    word = _squeezed(word)
    return _ONE_SPELLING.get(word, word)


@lru_cache(maxsize=8)
def _by_first_word(phrases: tuple[str, ...]) -> _Phrases:
    """Return the words of the phrases. Each phrase is also one word, for authors who write `bunuhdiri`.

    The result is cached, because each post is compared with all phrases.
    """
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tuple(word.plain for word in _words(phrase))
        for each in {words, (_squeezed("".join(words)),)}:
            by_first.setdefault(each[0] if each else "", []).append(each)
    return by_first


def _is_in(words: Sequence[_Word], by_first: _Phrases) -> bool:
    return any(
        tuple(each.plain for each in words[at : at + len(phrase)]) == phrase
        for at, word in enumerate(words)
        if not word.is_negated
        for phrase in by_first.get(word.plain, ())
    )
