"""Search for crisis phrases in texts. Before the search, other spellings and slang are replaced by one plain spelling.

For example, `GUEEE PENGEN MATIII...` (slang for "I want to die") becomes `saya ingin mati`. A phrase matches whole
words only. The word `mati` ("dead") alone is no phrase, because people also use it for a power cut (`mati lampu`).
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
}  # fmt: skip

#: Words that make a phrase harmless if they follow the phrase. The key is the last word of the phrase.
#: Examples: `mati lampu` (power cut), `hidup hemat` (live thriftily).
HARMLESS_AFTER = {
    "mati": frozenset(
        """
        ac air airnya angin api gaya hp internet kiri kutu lampu lampunya langkah listrik listriknya matian mesin pajak
        pucuk rasa sinyal suri syahid total tv wifi
        """.split()  # noqa: SIM905  # shorter than a list
    ),
    "hidup": frozenset("berfoya boros hemat mewah miskin sehat sederhana susah".split()),  # noqa: SIM905
}

#: Things and animals that can be dead or switched off. A phrase with `mati` does not match after one of these words.
#: Only the two words directly before the phrase are compared.
THINGS = frozenset(
    """
    ac aki anggrek ayam bakteri baterai batre bunga gulma hp ikan internet jam jamur jentik kecoa kipas komputer kompor
    kulkas kuman kutu lampu laptop lilin listrik mesin mobil motor nyamuk pohon ponsel pompa radio rumput sel senter
    sinyal tanaman tikus tv virus wifi
    """.split()  # noqa: SIM905
)

#: Verbs for "want". A negation before them cancels the match: `tidak ingin mati` expresses fear.
WISHES = frozenset({"ingin", "mau"})
NEGATIONS = frozenset({"tidak", "bukan", "belum", "jangan"})

DEATH = "mati"

#: Number of characters before and after a phrase in which the search looks for words that make the phrase harmless.
NEAR = 40

#: Minimum characters of a phrase. Shorter phrases have too many meanings.
MIN_PHRASE = 3

#: Unicode categories of characters that are removed from texts: accents on letters, and invisible characters.
UNSEEN = frozenset({"Mn", "Me", "Cf"})

_LETTERS_FOR_DIGITS = str.maketrans("013456789@$", "oieasgtbgas")
_WORD = re.compile(r"[a-z0-9@$]+")
_STRETCHED = re.compile(r"(.)\1+")
#: Four or more single letters with separators: `m a t i`, `b.u.n.u.h`.
_SPACED = re.compile(r"(?<![a-z0-9])[a-z](?:[\W_]{1,3}[a-z]){3,}(?![a-z0-9])")


def _squeezed(word: str) -> str:
    return _STRETCHED.sub(r"\1", word)


_ONE_SPELLING = {_squeezed(other): word for word, others in SPELLINGS.items() for other in others.split()}


def plain(text: str) -> str:
    """Return the words of a text in plain spelling.

    Plain words are in lower case and have no accents or repeated letters. Digits within words become letters.
    """
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
    """Return the phrase in plain spelling. Cache the result, because each post is compared with every phrase."""
    return plain(phrase)


def contains_phrase(phrases: Iterable[str], *texts: str) -> bool:
    plain_phrases = [plain_phrase(phrase) for phrase in phrases]
    plain_texts = [f" {plain(text)} " for text in texts]
    return any(_is_in(phrase, text) for text in plain_texts for phrase in plain_phrases)


def is_too_general(phrase: str) -> bool:
    """Return whether a plain phrase is too general: shorter than `MIN_PHRASE`, or `mati` alone."""
    return len(phrase) < MIN_PHRASE or phrase == DEATH


def _is_in(phrase: str, text: str) -> bool:
    joined = phrase.replace(" ", "")
    if joined != phrase and f" {joined} " in text:
        return True  # the author left out the blanks: `bunuhdiri`
    if phrase not in text:
        return False
    return any(_counts(phrase.split(), match) for match in re.finditer(rf"\b{re.escape(phrase)}\b", text))


def _counts(words: list[str], match: re.Match[str]) -> bool:
    """Return whether the match of a phrase counts. Words before or after the match may make the phrase harmless.

    `words` are the words of the phrase.
    """
    start, end = match.span()
    before, after = match.string[max(0, start - NEAR) : start].split()[-2:], match.string[end : end + NEAR].split()
    if DEATH in words and any(word.removesuffix("nya") in THINGS for word in before):
        return False
    if after and after[0] in HARMLESS_AFTER.get(words[-1], ()):
        return False
    return not (words[0] in WISHES and before and before[-1] in NEGATIONS)
