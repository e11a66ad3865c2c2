"""Texts of reminders in Indonesian, with times in the reminder's time zone.

Links in text that a person wrote are broken, because the phone number of the recipient may belong to a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from app.core.lib.break_links import break_links
from app.core.lib.local_time import calendar_day, clock_time
from app.notifications.delivery.message_format import explains_answers
from app.pengingat.ledger import tokens
from app.pengingat.models import Pengingat
from app.pengingat.timetable.schedule import Due
from app.pengingat.types.base import after_blank

#: Slot of a due time whose dose, meal, session or notice an edit has removed. The text then has only the title.
REMOVED = ""

#: Instructions for an answer by message, to one reminder or to a numbered list. They are used only if the message
#: provider can receive answers.
ANSWER_ONE = "Kalau sudah, balas SUDAH."
ANSWER_SEVERAL = "Kalau sudah semua, balas SUDAH. Kalau sebagian, balas nomornya, misalnya 1 2."

#: Titles before a name, and particles and short forms that begin a name, such as `I Made`, `Ni Luh` and `Moh Hatta`.
#: People also write them without a full stop. `first_name` skips these words, single letters, and all words that end
#: with a full stop.
_TITLES = ("dr", "drg", "dra", "drs", "ir", "prof", "hj", "kh", "ny", "nn", "tn", "bp", "bpk", "bapak", "ibu", "sdr")
NO_NAMES = frozenset((*_TITLES, "ni", "moh", "moch", "muh", "mhd", "abd", "st"))

#: Maximum lines of a list, and maximum characters of its lines: as free text, and as a template of WhatsApp or a push.
MAX_LINES = 10
CHARACTERS, CHARACTERS_OF_A_TEMPLATE = 3500, 600

#: Maximum characters in the body of a push. A push may have only a few kilobytes, and phones show only a few lines.
PUSH_CHARACTERS = 400


#: Buttons of a push, in the format for the browser's service worker.
ACTIONS = ({"action": "done", "title": "Sudah"}, {"action": "snooze", "title": "Tunda 30 menit"})


@dataclass(frozen=True)
class Recipient:
    """Owner of a reminder, and the person who reads the messages about the reminder."""

    name: str
    #: Name of the caregiver who reads the messages of a dependent. None if the owner reads the messages.
    reader: str | None = None

    @property
    def whom(self) -> str:
        """Return the name of the dependent, or an empty string if the owner reads the messages."""
        return "" if self.reader is None else break_links(self.name)

    @property
    def short_name(self) -> str:
        return first_name(self.name if self.reader is None else self.reader)

    @property
    def greeting(self) -> str:
        """Return the beginning of a message: `Halo Siti, `, or `Pengingat untuk Ibu Siti: `."""
        return f"Pengingat untuk {self.whom}: " if self.whom else f"Halo{after_blank(self.short_name)}, "


@dataclass(frozen=True)
class Line:
    """One due time in a message."""

    #: Place in the list. A repeat keeps the places of the first message.
    number: int
    #: Type of the reminder. Empty if the text is only a title.
    tipe: str
    title: str
    #: Sentence of a push. It begins with a small letter.
    plain: str
    #: Beginning of a second message.
    lead: str
    #: Sentence with the reminder's title, if the title adds information.
    news: str

    @property
    def numbered(self) -> str:
        return f"{self.number}. {begun_large(f'{self.lead}{self.plain}{self.news}')}"


def line(number: int, pengingat: Pengingat, due: Due, recipient: Recipient, *, again: bool = False) -> Line:
    plain = _sentence(pengingat, due)
    lead = "kami ingatkan sekali lagi, " if again else ""
    tipe = "" if due.slot == REMOVED else pengingat.tipe
    news = _title(pengingat, f"{recipient.greeting}{lead}{plain}")
    return Line(number, tipe, break_links(pengingat.judul), plain, lead, news)


def message(
    lines: Sequence[Line], recipient: Recipient, token: str, *, is_list: bool, is_short: bool
) -> tuple[dict[str, object], int]:
    """Return the text and the parts of a message, and the number of lines that it names.

    The parts are the values that a template and the answer buttons need. The text ends with the answer link.
    """
    link, named = tokens.link_of(token), lines
    if is_list:
        named = _named(lines, CHARACTERS_OF_A_TEMPLATE if is_short else CHARACTERS)
        greeting = f"Halo{after_blank(recipient.short_name)}, ada {len(lines)} pengingat:"
        first = f"Pengingat untuk {recipient.whom}:" if recipient.whom else greeting
        text = "\n".join([first, *(each.numbered for each in named), *_rest(lines, named)])
        by_words, by_link = ANSWER_SEVERAL, f"Jawab semuanya di sini: {link}"
    else:
        (one,) = lines
        text = f"{recipient.greeting}{one.lead}{one.plain}{one.news if link else ''}"
        by_words, by_link = ANSWER_ONE, f"Jawab di sini: {link}"
    types = {each.tipe for each in named}
    parts = {"tipe": types.pop() if len(types) == 1 else "", "name": recipient.short_name, "token": token}
    return {"text": _with_answer(text, by_words, by_link if link else ""), "parts": parts}, len(named)


def push(lines: Sequence[Line], recipient: Recipient, *, is_list: bool) -> tuple[dict[str, object], int]:
    """Return title and body of a push, and the number of lines that it names."""
    whom = f"{' untuk ' * bool(recipient.whom)}{recipient.whom}"
    if is_list:
        named = _named(lines, CHARACTERS_OF_A_TEMPLATE)
        body = "\n".join([*(f"{each.number}. {begun_large(each.plain)}" for each in named), *_rest(lines, named)])
        return {"title": f"{len(lines)} pengingat{whom}"[:PUSH_CHARACTERS], "body": body}, len(named)
    (one,) = lines
    body = begun_large(one.plain)
    if len(body) > PUSH_CHARACTERS:
        body = body[: PUSH_CHARACTERS - 1] + "…"
    title = f"Pengingat{whom}: {one.title}" if one.title else f"Pengingat{whom}"
    return {"title": title[:PUSH_CHARACTERS], "body": body}, 1


def _named(lines: Sequence[Line], characters: int) -> Sequence[Line]:
    """Return the lines that fit into one message: at least one, and at most ten."""
    lengths = accumulate(len(each.numbered) + 1 for each in lines)
    return lines[: max(1, sum(length <= characters for length in lengths))][:MAX_LINES]


def _rest(lines: Sequence[Line], named: Sequence[Line]) -> list[str]:
    left = len(lines) - len(named)
    return [f"Dan {left} lagi, lihat di aplikasi."] if left else []


def _with_answer(text: str, by_words: str, by_link: str) -> str:
    """Return a message with the instructions for an answer by message and by link, each in a separate line."""
    return "\n".join(filter(None, [text, by_words if explains_answers(f"{text}\n{by_link}") else "", by_link]))


def stock(pengingat: Pengingat, day: date, recipient: Recipient, *, is_push: bool) -> dict[str, object]:
    """Return the texts of a notice about a medicine that runs out on this day."""
    what = pengingat.type.medicine(pengingat.details) or break_links(pengingat.judul) or "obat"
    whose = "" if recipient.whom else " Anda"
    sentence = f"{what}{whose} kira-kira habis {_day_of_year(day)}. Yuk, siapkan lagi sebelum habis."
    if is_push:
        return {"title": f"Persediaan obat{after_blank(recipient.whom)}", "body": begun_large(sentence)}
    return {"text": f"{recipient.greeting}{sentence}", "parts": {"name": recipient.short_name}}


def first_name(name: str) -> str:
    """Return the first word of a name after titles, initials and particles, for example `Ani` for `dr.Ani, Sp.PD`.

    If no other word is left, return the full name.
    """
    words = [word.strip(",;") for word in break_links(name).split()]
    return next(filter(_is_name, words), " ".join(words))


def _is_name(word: str) -> bool:
    return len(word) > 1 and not word.endswith(".") and word.casefold() not in NO_NAMES


def _day_of_year(day: date) -> str:
    """Return a date without its year, for example `Jumat, 27 November`."""
    return calendar_day(day).rsplit(" ", 1)[0]


def _title(pengingat: Pengingat, said: str) -> str:
    """Return a sentence with the reminder's title, for example ` Pengingat: Obat diabetes.`

    Return an empty string if the text `said` contains the title, or if the title contains the name of the medicine.
    The title adds no information then.
    """
    title = break_links(pengingat.judul)
    medicine = pengingat.type.medicine(pengingat.details)
    if not title or _contains(said, title) or (medicine and _contains(title, medicine)):
        return ""
    return f" Pengingat: {title}" + ("" if title[-1] in ".!?" else ".")


def _contains(text: str, words: str) -> bool:
    """Return whether the text contains `words` as whole words, in small or capital letters."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


def begun_large(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _sentence(pengingat: Pengingat, due: Due) -> str:
    local = due.occurrence.astimezone(pengingat.zone)
    if due.slot == REMOVED:
        return f"waktunya {break_links(pengingat.judul) or 'pengingat'} pukul {clock_time(local)}."
    return pengingat.type.sentence(pengingat.details, pengingat.judul, due.slot, local)


def what(pengingat: Pengingat, due: Due) -> str:
    """Return the details of an occurrence for the application, for example `1 tablet, setelah makan`."""
    day = due.occurrence.astimezone(pengingat.zone).date()
    return pengingat.type.what(pengingat.details, due.slot, day)
