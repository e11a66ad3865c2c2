"""What somebody means who writes to us: the first word decides, however it is typed.

Misspellings are listed and not guessed: `susah` is one letter from `sudah`, and says something else. What lets messages
come again, cuts a link or gives a number back is taken at its word alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Word(StrEnum):
    DONE = "done"
    #: `OK` and `YA`: done, where only one thing can be meant.
    YES = "yes"
    NOT_YET = "not_yet"
    SNOOZE = "snooze"
    SKIP = "skip"
    STOP = "stop"
    STOP_REMINDERS = "stop_reminders"
    START = "start"
    HELP = "help"
    WRONG_NUMBER = "wrong_number"
    RESET = "reset"
    CUT = "cut"
    VERIFY = "verify"
    #: Agrees that a number moves to another account.
    MOVE = "move"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Command:
    word: Word
    #: Which of the reminders that the last message numbered; empty: all that are open.
    numbers: tuple[int, ...] = ()
    #: For how long to put off; of any size.
    minutes: int = 30
    #: What follows `VERIFIKASI`.
    code: str = ""
    #: Of a button: the token of the link whose question it answers.
    token: str | None = None


#: First words, none of whose letters stands twice in a row: stretched ones are read as one.
SPELLINGS = {
    Word.DONE: "sudah sdh udah udh uda dah suda sudh sudha sydah sydh sufah sudag sudsh sudan done",
    Word.YES: "ok oke okey okay oki okeh ya y iya iyah yah yes",
    Word.NOT_YET: "belum blm belom blom blum belm belun beum bleum belu blon",
    Word.SNOOZE: "tunda tnda tundah tundain tuda tunds tumda ditunda menunda tundalah",
    Word.SKIP: "lewati lewat lewatin lewatkan lwati lewti lewari lwt skip skp sekip",
    Word.STOP: "berhenti stop brhenti berhnti berhent berenti brenti henti berhentikan hentikan stp setop",
    Word.START: "mulai",
    Word.HELP: "bantuan tolong help bantu bantuin bntuan bantuam tlong tolng tolon tolongin hlp info menu",
    Word.RESET: "reset rset reest",
    Word.CUT: "putus",
    Word.MOVE: "pindah",
    Word.VERIFY: "verifikasi verifikas verfikasi veripikasi verivikasi ferifikasi verifikasih verif",
}
_NUMBER_OF_PHONE = frozenset(["nomor", "nomer", "no", "nmr", "nomr", "nomo", "nomornya", "nomernya"])
_OF_REMINDERS = frozenset(["pengingat", "pengingatnya", "pengigat", "pngingat", "peringatan"])
#: What may stand beside the numbers of an answer.
_FILLERS = frozenset(["nomor", "nomer", "no", "dan", "yang", "ke"])

_PRESSED = re.compile(r"T:([A-Za-z0-9_-]{22})(?::(snooze|skip))?")
_TOKENS = re.compile(r"[^\W\d_]+|\d+")
_CODE = re.compile(r"[^\W_]+")
#: `07.00`, which is no two numbers.
_TIME_OF_DAY = re.compile(r"\d{1,2}[.:]\d{2}(?!\d)")
_REPEATED = re.compile(r"([^\W\d_])\1+")
#: Digits of a number that is read; a longer one is as good as this one.
_MOST_DIGITS = 6


def read(text: str, pressed: str = "") -> Command:
    """What a text says; what the button says under which it stands, where one was pressed."""
    if button := _PRESSED.fullmatch(pressed):
        word = {None: Word.DONE, "snooze": Word.SNOOZE, "skip": Word.SKIP}[button[2]]
        return Command(word, token=button[1])
    plain = _plain(text)
    tokens = _TOKENS.findall(plain)
    first, rest = (_letters(tokens[0]), tokens[1:]) if tokens else ("", [])
    word = _WORDS.get(first, Word.UNKNOWN)
    if first == "salah" and rest and _letters(rest[0]) in _NUMBER_OF_PHONE:
        return Command(Word.WRONG_NUMBER)
    match word:
        case Word.DONE | Word.SKIP:
            return Command(word, numbers=() if _TIME_OF_DAY.search(plain) else _numbers(rest))
        case Word.SNOOZE:
            return Command(word, minutes=_minutes(rest))
        case Word.STOP if rest and _letters(rest[0]) in _OF_REMINDERS:
            return Command(Word.STOP_REMINDERS)
        case Word.MOVE if rest:
            return Command(Word.UNKNOWN)
        case Word.VERIFY:
            return Command(word, code=_code(text))
        case _:
            return Command(word)


def _plain(text: str) -> str:
    """Small letters without accents, from whatever alphabet of Unicode a keyboard draws them."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()


def _letters(token: str) -> str:
    """Without stretched letters: `sudaaah`."""
    return _REPEATED.sub(r"\1", token)


_WORDS = {spelling: word for word, spellings in SPELLINGS.items() for spelling in spellings.split()}


def _numbers(rest: Sequence[str]) -> tuple[int, ...]:
    """`2`, `no 2`, `1 dan 3`; what goes on otherwise (`2 tablet`) says something else."""
    if not all(token.isdecimal() or token in _FILLERS for token in rest):
        return ()
    return tuple(dict.fromkeys(_integer(token) for token in rest if token.isdecimal()))


def _minutes(rest: Sequence[str]) -> int:
    """`15`, `1 jam`, `setengah jam`; half an hour where nothing is said."""
    words = [_letters(token) for token in rest]
    at = next((n for n, token in enumerate(words) if token.isdecimal()), None)
    unit = words[at + 1 : at + 2] if at is not None else words[:1]
    is_hours = bool(unit) and unit[0] in ("jam", "j", "sejam")
    if at is None:
        return 60 if is_hours else 30
    return _integer(words[at]) * (60 if is_hours else 1)


def _integer(digits: str) -> int:
    return int(digits[:_MOST_DIGITS])


def _code(text: str) -> str:
    """All that follows the first word, to the letter: there the same letter may stand twice."""
    _, *parts = _CODE.findall(text)
    return "".join(parts)[:50]
