"""What caregivers read of a patient: the time and the kind, and the medicine only where the patient lets them read it.

No web address leaves in both people's words, for the caregiver's number may be a stranger's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.outgoing.texts import PUSH_CHARACTERS, Recipient, calendar_day, clock_time, patient_name
from app.pengingat.timetable.schedule import DAY
from app.pengingat.timetable.tipe import Tipe

#: Lines of one message; of the rest it says how many there are.
MOST_LINES = 10

#: Whom it is written for.
STRANGER = Recipient("", phone_is_proven=False)

NOUNS = {Tipe.OBAT: "obat", Tipe.MAKAN: "makan", Tipe.TERAPI: "terapi", Tipe.KONTROL: "pengingat kontrol"}


class News(StrEnum):
    """What is told of an occurrence."""

    MISSED = "{nama} belum menandai {apa} {kapan}."
    #: It was us: nothing reached the patient.
    UNDELIVERED = "Pengingat {nama} {kapan} tidak dapat kami kirim."
    LATE = "{nama} sudah menandai {apa} {kapan}, walau terlambat."
    #: Answered offline in time, which we could not know.
    IN_TIME = "{nama} sudah menandai {apa} {kapan} tepat waktu. Kabarnya baru kami terima."


#: What the caregiver is asked to do.
REQUESTS = {News.MISSED: "Boleh tolong ditanyakan?", News.UNDELIVERED: "Boleh tolong diingatkan?"}


@dataclass(frozen=True)
class Line:
    """One occurrence and what is told of it."""

    news: News
    occurrence: Occurrence
    pengingat: Pengingat


def words(
    lines: Sequence[Line], patient: str, now: datetime, *, named: bool, others: Collection[str] = ()
) -> dict[str, str]:
    """Return what a caregiver reads of a patient with this name: the text of a message, title and body of a push.

    With `named`, medicines are named. `others` are the names of the caregiver's other patients.
    """
    name = patient_name(patient, others) or "Pasien Anda"
    sentences = [_sentence(line, name, now, named=named) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        sentences.append(f"Masih ada {len(lines) - MOST_LINES} pengingat lain.")
    requests = [request for news, request in REQUESTS.items() if any(line.news is news for line in lines)]
    text = ("\n" if len(lines) > 1 else " ").join([*sentences, " ".join(requests)]).strip()
    body = text if len(text) <= PUSH_CHARACTERS else text[: PUSH_CHARACTERS - 1] + "…"
    return {"text": text, "title": f"Kabar tentang {name}"[:PUSH_CHARACTERS], "body": body}


def _sentence(line: Line, name: str, now: datetime, *, named: bool) -> str:
    tipe = Tipe(line.occurrence.tipe)
    medicine = STRANGER.line(line.pengingat.details.get("nama_obat") or "") if named and tipe is Tipe.OBAT else ""
    what = f"{NOUNS[tipe]} {medicine}".strip()
    return line.news.value.format(nama=name, apa=what, kapan=_when(line, now))


def _when(line: Line, now: datetime) -> str:
    """`pukul 07.00 WIB`, in the zone of the reminder; with the day where that is not today."""
    local, today = line.occurrence.due_at.astimezone(line.pengingat.zone), now.astimezone(line.pengingat.zone).date()
    at = f"pukul {clock_time(local)}"
    if local.date() == today:
        return at
    return f"kemarin {at}" if local.date() == today - DAY else f"{calendar_day(local)} {at}"
