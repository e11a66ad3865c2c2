"""Texts of reminders in Indonesian, with times in the reminder's time zone.

Links in text that a person wrote are broken, because the phone number of the recipient may belong to a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NotRequired, TypedDict

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


class ReminderParts(TypedDict):
    """Parts of a message about one reminder.

    The parts are stored with the text. Messages about several reminders, and WhatsApp templates, are made from
    the parts.
    """

    #: Type of the reminder. Empty if the message has reminders of several types, or if the text is only a title.
    tipe: str
    #: First name of the reader. It may be empty.
    name: str
    #: Name of the dependent. Missing if the owner of the reminder reads the message.
    whom: NotRequired[str]
    #: Sentence that begins with a small letter. It contains the reminder's title if the title adds information.
    sentence: str
    #: Token of the answer link. It is set even if the service has no public address for links.
    token: str


def payload(
    pengingat: Pengingat, due: Due, recipient: Recipient, token: str, *, again: bool = False
) -> dict[str, object]:
    """Return the text and the parts of a message. The text ends with the link if the setting `public_url` is set."""
    plain, link = message(pengingat, due, recipient, again=again), tokens.link_of(token)
    title = _title(pengingat, plain)
    parts: ReminderParts = {
        "tipe": "" if due.slot == REMOVED else pengingat.tipe,
        "name": recipient.short_name,
        "sentence": _lead(again=again) + _sentence(pengingat, due) + title,
        "token": token,
    }
    if recipient.whom:
        parts["whom"] = recipient.whom
    text, answer = (f"{plain}{title}", f"Jawab di sini: {link}") if link else (plain, "")
    return {"text": _with_answer(text, ANSWER_ONE, answer), "parts": parts}


def parts_of(payload: Mapping[str, Any]) -> ReminderParts:
    parts: ReminderParts = payload["parts"]
    return parts


def merge(payloads: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return one message for several reminders of one person, as a numbered list.

    The message ends with the answer link of the first reminder. The column `shared_links` allows this link to answer
    all of the reminders.
    """
    parts = [parts_of(payload) for payload in payloads]
    lines = [f"{n}. {begun_large(part['sentence'])}" for n, part in enumerate(parts, 1)]
    whom, name = parts[0].get("whom"), parts[0]["name"]
    first = f"Pengingat untuk {whom}:" if whom else f"Halo{after_blank(name)}, ada {len(lines)} pengingat:"
    text = "\n".join([first, *lines])
    link = tokens.link_of(parts[0]["token"])
    tipe = {part["tipe"] for part in parts}
    of_all: ReminderParts = {**parts[0], "tipe": tipe.pop() if len(tipe) == 1 else ""}
    answer = f"Jawab semuanya di sini: {link}" if link else ""
    return {"text": _with_answer(text, ANSWER_SEVERAL, answer), "parts": of_all}


def _with_answer(text: str, by_words: str, by_link: str) -> str:
    """Return a message with the instructions for an answer by message and by link, each in a separate line."""
    lines = [text, by_words if explains_answers(f"{text}\n{by_link}") else "", by_link]
    return "\n".join(filter(None, lines))


def message(pengingat: Pengingat, due: Due, recipient: Recipient, *, again: bool = False) -> str:
    """Return for example `Halo Siti, waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB.`"""
    return f"{recipient.greeting}{_lead(again=again)}{_sentence(pengingat, due)}"


def push(pengingat: Pengingat, due: Due, recipient: Recipient) -> dict[str, str]:
    body = begun_large(_sentence(pengingat, due))
    if len(body) > PUSH_CHARACTERS:
        body = body[: PUSH_CHARACTERS - 1] + "…"
    title, lead = break_links(pengingat.judul), f"Pengingat{' untuk ' * bool(recipient.whom)}{recipient.whom}"
    return {"title": (f"{lead}: {title}" if title else lead)[:PUSH_CHARACTERS], "body": body}


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


def _lead(*, again: bool) -> str:
    return "kami ingatkan sekali lagi, " if again else ""


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
