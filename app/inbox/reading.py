"""The meaning of a chat message. `read` is a pure function.

A text has a meaning only if every word and sign of it is on one list. All other texts are `DOUBT`, and the service asks
the user. A question costs the user ten seconds, but a wrong record can cost a life.

A "time" in this module is one due time of a reminder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.pengingat.types.registry import TYPES


class Word(StrEnum):
    DONE = "done"
    SKIP = "skipped"
    SNOOZE = "snooze"
    NOT_YET = "not yet"
    #: The user has read the reminder, but does not say that the dose was taken.
    OK = "ok"
    COURTESY = "courtesy"
    CONDOLENCE = "condolence"
    DOUBT = "doubt"
    STOP = "stop"
    STOP_REMINDERS = "stop reminders"
    START = "start"
    HELP = "help"
    WRONG_NUMBER = "wrong number"
    RESET = "reset"
    VERIFY = "verify"


@dataclass(frozen=True)
class Meaning:
    word: Word
    #: Places of times in the list that the user answers, from 1 on.
    numbers: tuple[int, ...] = ()
    #: Ids of the times that the text names.
    named: tuple[int, ...] = ()
    #: Minutes to postpone. The caller checks the range.
    minutes: int = 30
    #: True if a text that postpones also says that the dose is not taken yet.
    says_not_yet: bool = False
    #: The verification code that follows the command `VERIFIKASI`, in upper case.
    code: str = ""
    #: The token of the button that the user pressed.
    token: str | None = None


@dataclass(frozen=True)
class CandidateTime:
    """One time of the message that the user answers."""

    id: int
    tipe: str
    names: tuple[str, ...] = ()


_REPEATED = re.compile(r"([^\W\d_])\1+")


def _words(text: str) -> frozenset[str]:
    """Return the words with repeated letters written once, because that is how texts are read."""
    return frozenset(_squeezed(text).split())


def _squeezed(text: str) -> str:
    return _REPEATED.sub(r"\1", text)


# --- lists. Every accepted spelling is listed, because similar words differ: `sudah` (done), `susah` (difficult) ----

ALREADY = _words("sudah suda sudh sdh udah uda udh done selesai beres kelar barusan") | _words(
    "sampun mpun uwis wis wes uwes atos parantos geus"  # Javanese and Sundanese
)
NOT_YET = _words("belum belom blm blum belon blon durung dereng")
NOT_YET_BESIDE = _words("eh deng ding maaf ternyata salah")
LATER = _words("tunda nanti ntar entar bentar sebentar mengko engke")
SKIP = _words("lewati skip")
SKIP_BESIDE = _words("saja aja")
OK = _words("ok oke okay ya iya baik siap")
#: Leading words that are left out if other words follow. `ya` is missing, because "ya sudah" means "never mind".
OK_FIRST = OK - {"ya"}
FILLER = _words("saya aku tadi td semua semuanya dan")
#: Fillers that may change the meaning at the beginning of a text, and before a word of `ALREADY` or `SKIP`.
PARTICLES = _words("ya kok dong nih sih")
NUMBERING = _words("dan no nomor")
THANKS = _words("makasih mksh thanks trims tq alhamdulillah")
COURTESY = THANKS | _words("kak bu pak dok dokter mas mbak min")
DEATH = _words("meninggal wafat almarhum almarhumah")
#: Two words that are read as one. The second word alone is on no list: "sudah terima" means "I received it".
PHRASES = {
    "makan obat": "minum obat",
    "teu acan": "belum",
    "terima kasih": "makasih",
    "matur nuwun": "makasih",
    "hatur nuhun": "makasih",
    "makasih banyak": "makasih",
    "mksh banyak": "makasih",
}
DONE_SIGNS = frozenset("\u2705\u2611\u2714\U0001f4af")  # check marks and "100"
OK_SIGNS = frozenset("\U0001f44d\U0001f44c\U0001f64f")  # thumb, OK hand, folded hands
#: Signs that say nothing beside words. The last one is a smile.
QUIET_SIGNS = DONE_SIGNS | OK_SIGNS | {"\U0001f60a"}

COMMANDS = {
    Word.STOP: ("berhenti", "stop"),
    Word.STOP_REMINDERS: ("berhenti pengingat", "stop pengingat"),
    Word.START: ("mulai",),
    Word.HELP: ("bantuan", "tolong", "help"),
    Word.WRONG_NUMBER: ("salah nomor", "salah sambung"),
    Word.RESET: ("reset",),
}
VERIFY = "verifikasi"

_PRESSED = re.compile(r"T:([A-Za-z0-9_-]{22})(?::(snooze|skip))?")
#: A word; numbers that punctuation joins, which are a time of day, a fraction or a range; a number; a sign.
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:(?:[.,]+|\s*[:/\u2044~\u2010-\u2015-]\s*)\d+)+|\d+|\S")
_CODE = re.compile(r"[^\W_]+")
_TIME_OF_DAY = re.compile(r"(?<!\d )\b(?:jam|pukul) \d+\b|\b\d{1,2}[.:]\d{2}\b")
_NUMBER = re.compile(r"\b(\d+)(?: (menit|jam))?\b")
#: Unicode categories of characters to remove: accents, and characters without width.
_UNSEEN = frozenset({"Mn", "Me", "Cf"})
_SKIN = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_QUESTIONS = frozenset("?\u00bf\u061f\u203d\u2753\u2754")
#: Replaces a name in a text. Texts contain no other bullet, because a bullet is punctuation.
_NAME = "\u2022"


def read(text: str, times: Sequence[CandidateTime] = (), pressed: str = "") -> Meaning:
    """Return the meaning of a text, or of the button that the user pressed. `times` are those of the message meant."""
    if button := _PRESSED.fullmatch(pressed):
        return Meaning({None: Word.DONE, "snooze": Word.SNOOZE, "skip": Word.SKIP}[button[2]], token=button[1])
    plain = _plain(text)
    said = _normal(plain)
    if DEATH.intersection(said.split()):
        return Meaning(Word.CONDOLENCE)
    if _QUESTIONS.intersection(plain):
        return Meaning(Word.DOUBT)
    return _command(plain) or _Reading(said, times).meaning()


def read_reaction(emoji: str) -> Word:
    """Return the meaning of a reaction to a reminder. A reaction of `DOUBT` has no effect."""
    return _of_signs(_normal(_plain(emoji)).split())


# --- words ----------------------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Return the text in lower case, without accents and skin colours, and with plain letters for styled ones."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    seen = (each for each in decomposed if unicodedata.category(each) not in _UNSEEN and each not in _SKIN)
    return "".join(seen).casefold()


def _normal(plain: str) -> str:
    """Return the words, numbers and signs, separated by blanks and without punctuation."""
    tokens = ("".join(match.split()) for match in _TOKEN.findall(plain))
    said = (_squeezed(token) for token in tokens if not (len(token) == 1 and unicodedata.category(token)[0] == "P"))
    return _with_phrases(" ".join(said))


def _with_phrases(said: str) -> str:
    for phrase, word in PHRASES.items():
        said = _replace(said, _squeezed(phrase), word)
    return said


def _replace(said: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", new, said)


def _command(plain: str) -> Meaning | None:
    """Return the command that is the whole text after polite words, or None."""
    said = [word for word in _with_phrases(" ".join(_CODE.findall(plain))).split() if _squeezed(word) not in COURTESY]
    if said and _squeezed(said[0]) == VERIFY and len(said) <= 3:  # people type a code in one piece or in two halves
        return Meaning(Word.VERIFY, code="".join(said[1:]).upper()[:50])
    whole = _squeezed(" ".join(said))
    return next((Meaning(word) for word, spellings in COMMANDS.items() if whole in spellings), None)


def _of_signs(signs: Sequence[str]) -> Word:
    for word, known in ((Word.DONE, DONE_SIGNS), (Word.OK, OK_SIGNS)):
        if signs and known.issuperset(signs):
            return word
    return Word.DOUBT


class _Reading:
    """The words of one text without names, and the words that are left without courtesy and leading "ok"."""

    def __init__(self, said: str, times: Sequence[CandidateTime]) -> None:
        self.named: set[int] = set()
        for name, ids in sorted(_names(times).items(), key=lambda each: -len(each[0])):
            if (without := _replace(said, name, _NAME)) != said:
                said = without
                self.named |= ids
        self.said, self.is_list = said, len(times) > 1
        self.tokens = said.split()
        if not QUIET_SIGNS.issuperset(self.tokens):
            self.tokens = [token for token in self.tokens if token not in QUIET_SIGNS]
        self.words = [token for token in self.tokens if token not in COURTESY]
        self.rest = list(self.words)
        while len(self.rest) > 1 and self.rest[0] in OK_FIRST:
            del self.rest[0]
        #: Numbers with their units. A time of day is no such number.
        self.delays: list[tuple[str, str]] = _NUMBER.findall(_TIME_OF_DAY.sub("", " ".join(self.rest)))
        tipes = {time.tipe for time in times if not self.named or time.id in self.named}
        of_types = [each.words for tipe, each in TYPES.items() if tipes <= {tipe}]
        self.fillers = FILLER.union({_NAME}, *of_types)

    def meaning(self) -> Meaning:
        word, numbers, named = self._word(), self._numbers(), tuple(sorted(self.named))
        if word is Word.SNOOZE:
            return Meaning(word, (), named, self._minutes(), bool(NOT_YET.intersection(self.rest)))
        if word is Word.DOUBT and numbers:
            return Meaning(Word.SKIP if SKIP.intersection(self.rest) else Word.DONE, numbers)
        return Meaning(word, (), named if word in (Word.DONE, Word.SKIP, Word.NOT_YET) else ())

    def _word(self) -> Word:
        if not self.tokens:
            return Word.DOUBT
        thanks = self.tokens[0] not in PARTICLES and not THANKS.isdisjoint(self.tokens)
        if not self.words or (thanks and PARTICLES.issuperset(self.words)):
            return Word.COURTESY
        if (word := _of_signs(self.words)) is not Word.DOUBT:
            return word
        core, has = self._core(self.rest), set(self.rest)
        if self._says_later(has):
            return Word.SNOOZE
        for word, words, beside in (
            (Word.DONE, ALREADY, frozenset()),
            (Word.SKIP, SKIP, SKIP_BESIDE),
            (Word.NOT_YET, NOT_YET, NOT_YET_BESIDE),
        ):
            if core & words and core <= words | beside:
                return word
        core = self._core(self.words)
        return Word.OK if core and core <= OK else Word.DOUBT

    def _core(self, words: Sequence[str]) -> set[str]:
        """Return the words that are no fillers."""
        answer_at = next((at for at, word in enumerate(words) if word in ALREADY | SKIP), 0)
        is_first = self.tokens[0] in PARTICLES
        particles = {at for at, word in enumerate(words) if word in PARTICLES and at >= max(answer_at, is_first)}
        return {word for at, word in enumerate(words) if word not in self.fillers and at not in particles}

    def _says_later(self, has: set[str]) -> bool:
        # Signs, fractions and ranges are not read.
        unread = [
            each for each in self.rest if not each.isalnum() and each != _NAME and not _TIME_OF_DAY.fullmatch(each)
        ]
        if has & (ALREADY | SKIP) or unread:
            return False
        is_delay = "lagi" in has and any(unit for _, unit in self.delays)
        is_first_something = "dulu" in has and has & {"minum", "makan"}
        return bool(has & LATER or is_delay or is_first_something)

    def _minutes(self) -> int:
        """Return the only number of the text in minutes, or 30."""
        if len(self.delays) != 1:
            return 30
        ((number, unit),) = self.delays
        return int(number) * (60 if unit == "jam" else 1)

    def _numbers(self) -> tuple[int, ...]:
        """Return the numbers of a list that the text selects: only numbers, or numbers after "done" or "skip"."""
        rest = [word for word in self.words if word not in NUMBERING]
        lead = next((at for at, word in enumerate(rest) if word.isdecimal()), len(rest))
        is_answer = set(rest[:lead]) <= ALREADY or set(rest[:lead]) <= SKIP
        is_list_of_numbers = self.words[-1:] == rest[-1:] and all(word.isdecimal() for word in rest[lead:])
        if not self.is_list or not is_answer or not is_list_of_numbers or OK_SIGNS.intersection(self.said.split()[:1]):
            return ()
        return tuple(dict.fromkeys(int(word) for word in rest[lead:]))


def _names(times: Sequence[CandidateTime]) -> dict[str, set[int]]:
    """Return the ids of the times by name. Leave out names that contain an answer or no letter."""
    names: dict[str, set[int]] = {}
    for time in times:
        for name in time.names:
            said = _normal(_plain(name))
            if any(map(str.isalpha, said)) and not (ALREADY | NOT_YET | LATER | SKIP).intersection(said.split()):
                names.setdefault(said, set()).add(time.id)
    return names
