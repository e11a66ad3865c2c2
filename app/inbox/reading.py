"""The meaning of a chat message. `read` is a pure function that uses the words of `app.inbox.vocabulary`.

A dose counts as taken only if the text says so. If a text is unclear, the service asks a question. A question costs the
user ten seconds, but a wrong record can cost a life.

A "time" in this module is one due time of a reminder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto

from app.inbox import vocabulary as words


class Word(StrEnum):
    DONE = "done"
    SKIP = "skip"
    SNOOZE = "snooze"
    #: The user says that the dose was not taken. The service undoes the user's answer of the last hour.
    UNDO = "undo"
    NOT_YET = "not yet"
    #: The user has read the reminder, but does not say that the dose was taken.
    OK = "ok"
    #: The user refuses, or postpones without a clear delay.
    NO = "no"
    #: The text may mean that a dose was taken. The service asks the user.
    DOUBT = "doubt"
    COURTESY = "courtesy"
    STOP = "stop"
    STOP_REMINDERS = "stop_reminders"
    START = "start"
    HELP = "help"
    WRONG_NUMBER = "wrong_number"
    RESET = "reset"
    VERIFY = "verify"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Meaning:
    word: Word
    #: Ids of the times that the text is about. Empty if `numbers` is set.
    ids: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    #: Minutes to postpone. The caller checks the range.
    minutes: int = 30
    #: The verification code that follows the command `VERIFIKASI`, in upper case.
    code: str = ""
    #: The token of the button that the user pressed.
    token: str | None = None
    #: True if the text is one word.
    is_alone: bool = False


@dataclass(frozen=True)
class CandidateTime:
    """One due time of a reminder. A text may be about this time."""

    id: int
    tipe: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """All times that a text may be about."""

    #: The times that a text is about if the text contains no name and no type of a reminder.
    meant: tuple[CandidateTime, ...] = ()
    #: Other open times, grouped by message, newest message first. A text is about one of these times only if the text
    #: contains the name or the type of the reminder.
    others: tuple[tuple[CandidateTime, ...], ...] = ()
    is_numbered: bool = False
    is_open: bool = False
    #: True if a text that means "not yet" undoes the last answer.
    may_undo: bool = False


NOTHING = Context()

_PRESSED = re.compile(r"T:([A-Za-z0-9_-]{22})(?::(snooze|skip))?")
_TOKEN = re.compile(rf"[^\W\d_]+|\d+|[{''.join(sorted(words.NO_EMOJI))}]")
_CODE = re.compile(r"[^\W_]+")
_REPEATED = re.compile(r"([^\W\d_])\1+")
#: Characters between two words that do not count as punctuation: spaces on one line, or a hyphen without spaces.
_BETWEEN = re.compile(r"[^\S\n]*|-")
#: Times of day, fractions and ranges. A text that contains one of them is not a list of numbers.
_NO_LIST = re.compile(r"\d{1,2}[.:]\d{2}(?!\d)|\d\s*[/\u2044:~\u2013\u2014-]\s*\d")
#: Unicode categories of characters to remove: accents, and characters without width.
_UNSEEN = frozenset({"Mn", "Me", "Cf"})
_SKIN = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_QUESTIONS = frozenset("?\u00bf\u061f\u203d\u2753\u2754")
#: Maximum number of digits of a number. Later digits are ignored. The numbers in our messages have fewer digits.
_MAX_DIGITS = 6
#: Words that may be an answer. If the name of a reminder contains such a word, the name is ignored. Otherwise an answer
#: with this word would be read as the name.
_NO_NAME = words.ALREADY | words.MAYBE | words.NOT_YET | words.NO | words.LATER | words.SKIP


class _Is(Enum):
    ALREADY = auto()
    NOT_YET = auto()
    LATER = auto()
    SKIP = auto()
    NO = auto()
    OK = auto()
    ACT = auto()
    FILLER = auto()
    KIND = auto()
    NAME = auto()
    NUMBER = auto()
    OTHER = auto()


#: Kinds of words that answer a reminder.
_ANSWERS = frozenset({_Is.ALREADY, _Is.SKIP})
#: Kinds of words that do not change the meaning of a text.
_FILLERS = frozenset({_Is.ACT, _Is.FILLER, _Is.NAME})
_CLASSES = {
    **dict.fromkeys(words.KINDS, _Is.KIND),
    **dict.fromkeys(words.OK, _Is.OK),
    **dict.fromkeys(words.FILLER, _Is.FILLER),
    **dict.fromkeys(words.ACT, _Is.ACT),
    **dict.fromkeys(words.NO | words.NO_EMOJI, _Is.NO),
    **dict.fromkeys(words.SKIP, _Is.SKIP),
    **dict.fromkeys(words.LATER, _Is.LATER),
    **dict.fromkeys(words.NOT_YET, _Is.NOT_YET),
    **dict.fromkeys(words.ALREADY, _Is.ALREADY),
}


_Name = tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    """A word of a text. `is_cut` is true if punctuation stands before the word."""

    word: str
    is_cut: bool
    kind: _Is = _Is.OTHER


def read(text: str, context: Context = NOTHING, pressed: str = "") -> Meaning:
    """Return the meaning of a text, or of the button that the user pressed."""
    if button := _PRESSED.fullmatch(pressed):
        word = {None: Word.DONE, "snooze": Word.SNOOZE, "skip": Word.SKIP}[button[2]]
        return Meaning(word, token=button[1])
    plain = _plain(text)
    parts = _parts(plain)
    if command := _command(plain):
        return command
    return _Reading(plain, parts, context).meaning() if parts else _emoji(plain, context)


def read_reaction(emoji: str) -> Word:
    """Return the meaning of a reaction to a reminder. An `UNKNOWN` reaction has no effect."""
    shown = set(_plain(emoji)) - _SKIN
    if len(shown) != 1:
        return Word.UNKNOWN
    return Word.DONE if shown <= words.DONE_EMOJI else Word.OK if shown <= words.OK_EMOJI else Word.UNKNOWN


# --- words ----------------------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Return the text in lower case and without accents. Replace styled Unicode letters, such as bold ones."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in decomposed if unicodedata.category(each) not in _UNSEEN).casefold()


def _parts(plain: str) -> list[_Part]:
    """Return the words and numbers of a text, with repeated letters removed."""
    parts, end = [], 0
    for match in _TOKEN.finditer(plain):
        is_cut = not _BETWEEN.fullmatch(plain[end : match.start()])
        parts.append(_Part(_squeezed(match[0]), is_cut))
        end = match.end()
    return parts


def _command(plain: str) -> Meaning | None:
    """Return the command that is the whole text, except polite words. Return None for any other text or a question."""
    if _QUESTIONS & set(plain):
        return None
    said = _without_courtesy(_CODE.findall(plain))
    first, rest = (_squeezed(said[0]), said[1:]) if said else ("", [])
    if not rest:
        return next((Meaning(Word(name)) for name, spellings in words.COMMANDS.items() if first in spellings), None)
    if first in words.COMMANDS[Word.VERIFY] and len(rest) <= 2:  # people type a code in one piece or in two halves
        return Meaning(Word.VERIFY, code="".join(rest).upper()[:50])
    second = _squeezed(rest[0])
    if len(rest) == 1 and first in words.COMMANDS[Word.STOP] and second in words.OF_REMINDERS:
        return Meaning(Word.STOP_REMINDERS)
    if len(rest) == 1 and first == "salah" and second in words.NUMBER_OF_PHONE:
        return Meaning(Word.WRONG_NUMBER)
    return None


def _without_courtesy(said: Sequence[str]) -> list[str]:
    """Return the words without polite words. Keep repeated letters, because codes may have them."""
    squeezed = [_squeezed(word) for word in said]
    kept: list[str] = []
    at = 0
    while at < len(said):
        polite = _courtesy(squeezed[at : at + 3])
        if not polite:
            kept.append(said[at])
        at += polite or 1
    return kept


def _courtesy(said: Sequence[str]) -> int:
    """Return the number of polite words at the beginning."""
    phrase = next((phrase for phrase in words.COURTESY_PHRASES if tuple(said[: len(phrase)]) == phrase), ())
    return len(phrase) or int(bool(said) and said[0] in words.COURTESY)


def _squeezed(word: str) -> str:
    return _REPEATED.sub(r"\1", word)


def _emoji(plain: str, context: Context) -> Meaning:
    shown = {each for each in plain if unicodedata.category(each) == "So"} - _SKIN - _QUESTIONS
    if shown & words.DONE_EMOJI:
        if shown <= words.DONE_EMOJI | words.OK_EMOJI and not _QUESTIONS & set(plain):
            return Meaning(Word.DONE, tuple(time.id for time in context.meant))
        return Meaning(Word.DOUBT if context.is_open else Word.UNKNOWN)
    return Meaning(Word.OK if shown & words.OK_EMOJI and not _QUESTIONS & set(plain) else Word.UNKNOWN)


def _name(name: str) -> _Name:
    """Return the words of a name in the form that `_parts` gives. Return an empty tuple if the name is ignored.

    A name is ignored if it has no letters, or if it contains a word of `_NO_NAME`.
    """
    said = tuple(part.word for part in _parts(_plain(name)))
    return said if any(word.isalpha() for word in said) and not _NO_NAME.intersection(said) else ()


def _spans(parts: Sequence[_Part], names: Iterable[_Name]) -> dict[range, _Name]:
    """Return the positions of names in a text. Skip names with punctuation inside, and names inside a longer name."""
    found: dict[range, _Name] = {}
    for name in sorted(set(names), key=len, reverse=True):
        for at in range(len(parts) - len(name) + 1) if name else ():
            span, here = range(at, at + len(name)), parts[at : at + len(name)]
            is_whole = tuple(part.word for part in here) == name and not any(part.is_cut for part in here[1:])
            if is_whole and not any(set(span) & set(other) for other in found):
                found[span] = name
    return found


def _classified(parts: Sequence[_Part], spans: Iterable[range]) -> list[_Part]:
    """Return the words of a text with their kinds. Remove polite words."""
    of_names = {at for span in spans for at in span}
    classified: list[_Part] = []
    at, is_cut = 0, False
    while at < len(parts):
        part, said = parts[at], tuple(each.word for each in parts[at : at + 3])
        polite = _courtesy(said)
        is_cut = is_cut or part.is_cut
        if at in of_names:
            kind, length = _Is.NAME, 1
        elif said[:2] in words.NOT_YET_PAIRS:
            kind, length = _Is.NOT_YET, 2
        elif polite:
            at += polite
            continue
        else:
            kind = _Is.NUMBER if part.word.isdecimal() else _CLASSES.get(part.word, _Is.OTHER)
            length = 1
        classified.append(_Part(part.word, is_cut, kind))
        at, is_cut = at + length, False
    return classified


def _without_ok(parts: Sequence[_Part]) -> list[_Part]:
    """Return the words of a text without "ok" at the beginning and "ya" at the end. Keep at least one word."""
    rest = list(parts)
    while len(rest) > 1 and rest[0].kind == _Is.OK and rest[0].word in words.OK_FIRST:
        del rest[0]
    while len(rest) > 1 and rest[-1].kind == _Is.OK and rest[-1].word in words.YA:
        del rest[-1]
    return rest


def _in_context(parts: Sequence[_Part]) -> Iterator[_Part]:
    """Yield the words. Change the kind of a word if a neighbouring word changes its meaning."""
    read = list(parts)
    for at, part in enumerate(read[:-1]):
        following = read[at + 1]
        if part.word == words.EAT and following.word in words.MEDICINE and not following.is_cut:
            read[at] = replace(part, kind=_Is.ACT)
    for at, part in enumerate(read):
        yield replace(part, kind=_Is.FILLER) if part.kind != _Is.NAME and _is_filler(read, at) else part


def _is_filler(parts: Sequence[_Part], at: int) -> bool:
    """Return whether the word does not change the meaning, because of the words before it."""
    part, before = parts[at], parts[:at]
    if part.word in words.PARTICLES:
        answers = [position for position, each in enumerate(parts) if each.kind in _ANSWERS]
        return bool(before) and (not answers or answers[0] < at)
    if part.word in words.SKIP_BESIDE:
        return bool(before) and before[-1].kind == _Is.SKIP
    return part.word in words.FINISHED and bool(before) and before[-1].kind == _Is.NOT_YET and not part.is_cut


class _Reading:
    """The words of one text, and the times that the text may be about."""

    def __init__(self, plain: str, parts: Sequence[_Part], context: Context) -> None:
        self.context = context
        self.is_question = bool(_QUESTIONS & set(plain))
        self.is_list = not _NO_LIST.search(plain)
        times = [time for group in (context.meant, *context.others) for time in group]
        self.tipes = {time.id: time.tipe for time in times}
        self.names = {time.id: {_name(name) for name in time.names} for time in times}
        spans = _spans(parts, (name for names in self.names.values() for name in names))
        self.named = list(dict.fromkeys(spans.values()))
        said = _classified(parts, spans)
        self.begins_with_ok = plain.lstrip()[:1] in words.OK_EMOJI or bool(said and said[0].kind == _Is.OK)
        self.parts = list(_in_context(_without_ok(said)))
        # Check all words, also those of names, because the name of a reminder may contain a word for "taken".
        self.says_taken = any(part.word in words.ALREADY | words.MAYBE | words.ACT for part in parts) or any(
            part.kind == _Is.ACT for part in self.parts
        )
        self.ids, self.is_found = self._meant()
        self.has = {part.kind for part in self.parts} - _FILLERS
        if self.is_found:
            self.has -= {_Is.KIND}

    def meaning(self) -> Meaning:
        word, has = self._word(), self.has
        if word == Word.SNOOZE:
            return Meaning(word, self.ids, minutes=self._minutes() or 0)
        if _Is.NUMBER in has and word in (Word.DONE, Word.SKIP):
            return Meaning(word, numbers=self._numbers())
        return Meaning(word, self.ids if word in (Word.DONE, Word.SKIP) else (), is_alone=len(self.parts) == 1)

    def _word(self) -> Word:
        has, context = self.has, self.context
        if self.is_question:
            return Word.DOUBT if self.says_taken and context.is_open else Word.UNKNOWN
        if not self.parts:
            return Word.COURTESY
        if self._numbers() and context.is_numbered:
            return Word.SKIP if _Is.SKIP in has else Word.DONE
        if _Is.ALREADY in has:
            return Word.DONE if has == {_Is.ALREADY} and self.is_found else Word.DOUBT
        if has == {_Is.NOT_YET}:
            return Word.UNDO if context.may_undo else Word.NOT_YET
        if has & {_Is.LATER, _Is.SKIP, _Is.NO}:
            return self._not_now()
        if _Is.NOT_YET in has:
            return Word.NOT_YET
        if all(part.kind == _Is.OK for part in self.parts):
            return Word.OK
        return Word.DOUBT if self.says_taken else Word.UNKNOWN

    def _not_now(self) -> Word:
        if _Is.LATER in self.has and self._minutes() is not None:
            return Word.SNOOZE if self.is_found else Word.NO
        is_alone = len(self.parts) == 1
        if self.has == {_Is.SKIP} and self.is_found and (is_alone or not self._has(words.SKIP_ALONE)):
            return Word.SKIP
        # If no time is open, a text with "no" is not an answer: "tidak bisa tidur" (I cannot sleep).
        is_answer = self.context.is_open or is_alone or self.has & {_Is.LATER, _Is.SKIP}
        return Word.NO if is_answer else Word.UNKNOWN

    def _has(self, some: frozenset[str]) -> bool:
        return any(part.word in some for part in self.parts)

    def _numbers(self) -> tuple[int, ...]:
        """Return the numbers of an answer: only numbers, or words for "done" or "skip" followed by numbers."""
        rest = [part for part in self.parts if part.word not in words.NUMBERING]
        lead = 0
        while lead < len(rest) and rest[lead].kind in (_Is.ALREADY, _Is.SKIP):
            lead += 1
        is_one_word = len({part.kind for part in rest[:lead]}) <= 1
        numbers = rest[lead:]
        if not self.is_list or self.begins_with_ok or not is_one_word or any(p.kind != _Is.NUMBER for p in numbers):
            return ()
        return tuple(dict.fromkeys(_integer(part.word) for part in numbers))

    def _minutes(self) -> int | None:
        """Return the number of minutes by which a text postpones a reminder. Return 30 if the text names no delay.

        Return None if the text contains other words or a time of day, because the delay is unclear then.
        """
        if not self.has <= {_Is.LATER, _Is.NOT_YET, _Is.NUMBER, _Is.OTHER} or not self.is_list:
            return None
        rest = [part.word for part in self.parts if part.kind in (_Is.NUMBER, _Is.OTHER)]
        rest = [word for word in rest if word not in words.LATER_BESIDE]
        spans: list[int] = []
        has_unit = True
        while rest:
            known = next((span for span in words.SPANS if tuple(rest[: len(span)]) == span), None)
            if not has_unit or not (known or rest[0].isdecimal()):
                return None
            if known:
                spans.append(words.SPANS[known])
                del rest[: len(known)]
                continue
            has_unit = len(rest) > 1 and rest[1] in words.UNITS
            spans.append(_integer(rest[0]) * (words.UNITS[rest[1]] if has_unit else 1))
            del rest[: 1 + has_unit]
        return sum(spans) if spans else 30

    def _meant(self) -> tuple[tuple[int, ...], bool]:
        """Return the ids of the times that the text is about, and whether all named types were found.

        The second value is False if the text names a type of reminder that no time of the context has.
        """
        named = [self._nearest({id_ for id_, names in self.names.items() if name in names}) for name in self.named]
        kinds = {words.KINDS[part.word] for part in self.parts if part.kind == _Is.KIND}
        if any(
            part.kind == _Is.ACT or (part.kind == _Is.FILLER and part.word in words.MEDICINE) for part in self.parts
        ):
            kinds.add(words.OF_ACT)
        kinds -= {time.tipe for times in named for time in times}
        of_kinds = [self._nearest({id_ for id_, tipe in self.tipes.items() if tipe == kind}) for kind in sorted(kinds)]
        found = [*named, *of_kinds] or [list(self.context.meant)]
        return tuple(dict.fromkeys(time.id for times in found for time in times)), all(of_kinds)

    def _nearest(self, ids: Set[int]) -> list[CandidateTime]:
        """Return the times with these ids in `context.meant`.

        If `context.meant` has none of these ids, search the messages in `context.others`, newest first. Return the
        matching times of the first message that has any.
        """
        groups = ([time for time in group if time.id in ids] for group in (self.context.meant, *self.context.others))
        return next((group for group in groups if group), [])


def _integer(digits: str) -> int:
    return int(digits[:_MAX_DIGITS])
