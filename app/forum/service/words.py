"""Finding crisis phrases in what people write: on the borders of words, in one spelling for all that mean the same.

`GUEEE PENGEN MATIII...` reads as `saya ingin mati`. Nothing is found by parts of words, and nothing by `mati` alone:
a lamp does that too (`mati lampu`), and a leg (`mati rasa`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

#: One spelling, and the others that people use for it.
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
}  # fmt: skip

#: By the last word of a phrase what makes something else of it: a lamp or a leg that is dead, a way of living.
OTHERWISE = {
    "mati": frozenset(
        """
        ac air airnya angin api gaya hp internet kiri kutu lampu lampunya langkah listrik listriknya matian mesin pajak
        pucuk rasa sinyal suri syahid total tv wifi
        """.split()  # noqa: SIM905  # as a list it would fill a page
    ),
    "hidup": frozenset("berfoya boros hemat mewah miskin sehat sederhana susah".split()),  # noqa: SIM905
}

#: One of them shortly before a phrase with `mati` is what dies.
THINGS = frozenset(
    """
    ac aki anggrek ayam bakteri baterai batre bunga gulma hp ikan internet jam jamur jentik kecoa kipas komputer kompor
    kulkas kuman kutu lampu laptop lilin listrik mesin mobil motor nyamuk pohon ponsel pompa radio rumput sel senter
    sinyal tanaman tikus tv virus wifi
    """.split()  # noqa: SIM905
)

#: Who does not want to: `tidak ingin mati` is fear, and no phrase of the list.
WISHES = frozenset({"ingin", "mau"})
NEGATIONS = frozenset({"tidak", "bukan", "belum", "jangan"})

DEATH = "mati"

#: So many characters around a phrase hold the words next to it.
NEAR = 40

#: A shorter word stands for anything.
MIN_PHRASE = 3

#: Categories of characters that change nothing of what a word says: marks on letters, and those of no width.
UNSEEN = frozenset({"Mn", "Me", "Cf"})

_LETTERS_FOR_DIGITS = str.maketrans("013456789@$", "oieasgtbgas")
_WORD = re.compile(r"[a-z0-9@$]+")
_STRETCHED = re.compile(r"(.)\1+")
#: Single letters with something between them: `m a t i`, `b.u.n.u.h`.
_SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:[\W_]{1,3}[a-z]){3,}(?![a-z0-9])")


def _squeezed(word: str) -> str:
    return _STRETCHED.sub(r"\1", word)


_ONE_SPELLING = {_squeezed(other): word for word, others in SPELLINGS.items() for other in others.split()}


def plain(text: str) -> str:
    """The words of a text in one spelling each: small letters, no marks, no stretched letters, no digits in words."""
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(character for character in text if unicodedata.category(character) not in UNSEEN)
    text = _SPACED.sub(lambda match: re.sub(r"[\W_]", "", match[0]), text)
    return " ".join(_spelled(word) for word in _WORD.findall(text))


def _spelled(word: str) -> str:
    if not word.isdigit():
        word = word.translate(_LETTERS_FOR_DIGITS)
    word = _squeezed(word)
    return _ONE_SPELLING.get(word, word)


@lru_cache(maxsize=2048)
def plain_phrase(phrase: str) -> str:
    """`plain`, remembered: each post is compared with all of them."""
    return plain(phrase)


def finds(phrases: Iterable[str], *texts: str) -> bool:
    """Whether one of the texts holds one of the phrases."""
    plain_phrases = [plain_phrase(phrase) for phrase in phrases]
    plain_texts = [f" {plain(text)} " for text in texts]
    return any(_is_in(phrase, text) for text in plain_texts for phrase in plain_phrases)


def says_too_little(phrase: str) -> bool:
    """Whether a plain phrase is no phrase at all: nothing, or `mati` alone."""
    return len(phrase) < MIN_PHRASE or phrase == DEATH


def _is_in(phrase: str, text: str) -> bool:
    joined = phrase.replace(" ", "")
    if joined != phrase and f" {joined} " in text:
        return True  # written as one word: `bunuhdiri`
    if phrase not in text:
        return False
    return any(_counts(phrase.split(), match) for match in re.finditer(rf"\b{re.escape(phrase)}\b", text))


def _counts(said: list[str], match: re.Match[str]) -> bool:
    """Whether the words around a phrase leave it its meaning."""
    start, end = match.span()
    before, after = match.string[max(0, start - NEAR) : start].split()[-2:], match.string[end : end + NEAR].split()
    if DEATH in said and any(word.removesuffix("nya") in THINGS for word in before):
        return False
    if after and after[0] in OTHERWISE.get(said[-1], ()):
        return False
    return not (said[0] in WISHES and before and before[-1] in NEGATIONS)
