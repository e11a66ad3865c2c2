"""Texts of alerts to caregivers about missed reminders of their patients.

A text contains the time and the type of a reminder. It names the medicine only if the patient allows this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.core.lib.break_links import break_links
from app.core.lib.local_time import calendar_day, clock_time
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.outgoing.texts import PUSH_CHARACTERS
from app.pengingat.timetable.schedule import DAY
from app.pengingat.types.registry import TYPES

#: Maximum occurrences in one message. If there are more, the last line says how many others there are.
MAX_LINES = 10


class News(StrEnum):
    """What an alert says about one occurrence. Each value is the template of a sentence."""

    MISSED = "{nama} belum menandai {apa} {kapan}."
    #: Our service failed to deliver the reminder to the patient.
    UNDELIVERED = "Pengingat {nama} {kapan} tidak dapat kami kirim."
    DONE = "{nama} sudah menandai {apa} {kapan}."


#: Sentence that asks the caregiver for help, by content of the alert.
REQUESTS = {News.MISSED: "Boleh tolong ditanyakan?", News.UNDELIVERED: "Boleh tolong diingatkan?"}


@dataclass(frozen=True)
class Line:
    news: News
    occurrence: Occurrence
    pengingat: Pengingat


def words(lines: Sequence[Line], patient: str, now: datetime, *, named: bool) -> dict[str, str]:
    """Return the texts of an alert about the patient: `text` for a message, `title` and `body` for a push.

    Medicines are named only if `named` is true.
    """
    name = break_links(patient) or "Pasien Anda"
    sentences = [_sentence(line, name, now, named=named) for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        sentences.append(f"Masih ada {len(lines) - MAX_LINES} pengingat lain.")
    requests = [request for news, request in REQUESTS.items() if any(line.news is news for line in lines)]
    text = ("\n" if len(lines) > 1 else " ").join([*sentences, " ".join(requests)]).strip()
    body = text if len(text) <= PUSH_CHARACTERS else text[: PUSH_CHARACTERS - 1] + "…"
    return {"text": text, "title": f"Kabar tentang {name}"[:PUSH_CHARACTERS], "body": body}


def _sentence(line: Line, name: str, now: datetime, *, named: bool) -> str:
    each = TYPES[line.occurrence.tipe]
    what = f"{each.noun} {each.medicine(line.pengingat.details) if named else ''}".strip()
    return line.news.value.format(nama=name, apa=what, kapan=_when(line, now))


def _when(line: Line, now: datetime) -> str:
    """Return the local due time of the reminder, for example `pukul 07.00 WIB`. Add the day unless it is today."""
    local, today = line.occurrence.due_at.astimezone(line.pengingat.zone), now.astimezone(line.pengingat.zone).date()
    at = f"pukul {clock_time(local)}"
    if local.date() == today:
        return at
    return f"kemarin {at}" if local.date() == today - DAY else f"{calendar_day(local)} {at}"
