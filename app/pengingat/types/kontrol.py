"""Appointments with a doctor (kontrol), with notices before the appointment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from marshmallow import fields, post_load, pre_load, validate

from app.core.lib.break_links import break_links
from app.core.lib.local_time import calendar_day, clock_time, rfc3339
from app.core.web.fields import ListOf, Text, Timestamp
from app.pengingat.timetable.schedule import OFFSETS, Schedule
from app.pengingat.types.base import Details, DetailsPart, DetailsSchema, ReminderType, after_blank, at_place

#: Beginning of a sentence, by the offset of the notice.
LEADS = {"1h": "1 jam lagi ", "1d": "besok "}

EXAMPLE = {
    "judul": "Kontrol ke dokter",
    "details": {
        "nama_dokter": "dr. Ani",
        "nama_faskes": "RSUD Cibabat",
        "datetime": "2040-03-02T02:00:00Z",
        "reminder_offsets": [{"offset": "1d"}, {"offset": "1h"}],
    },
}


class ReminderOffset(DetailsPart):
    offset = fields.String(required=True, validate=validate.OneOf(list(OFFSETS)), metadata={"example": "1h"})


class KontrolDetails(DetailsSchema):
    nama_dokter = Text(200, allow_none=True, example="dr. Ani")
    spesialisasi = Text(200, allow_none=True)
    jenis_faskes = Text(200, allow_none=True)
    nama_faskes = Text(200, allow_none=True)
    datetime = Timestamp(allow_none=True)
    frekuensi_kontrol = Text(100, allow_none=True, example="1 bulan")
    reminder_offsets = ListOf(fields.Nested(ReminderOffset), most=10)

    @pre_load
    def read_aliases(self, data: object, **_: object) -> object:
        """Read the offsets also under the names `offsets` and `reminders`, because the specification gives no name."""
        if not isinstance(data, Mapping):
            return data
        details = dict(data)
        sent = [details.pop(name) for name in ("reminder_offsets", "offsets", "reminders") if name in details]
        return details if not sent or sent[0] is None else {**details, "reminder_offsets": sent[0]}

    @post_load
    def normalise(self, data: Details, **_: object) -> Details:
        if data.get("datetime") is not None:
            data = {**data, "datetime": rfc3339(data["datetime"])}
        offsets = data.get("reminder_offsets", [])
        unique = {row["offset"]: row for row in offsets}
        return {**data, "reminder_offsets": list(unique.values())} if offsets else data


class Kontrol(ReminderType):
    name = "kontrol"
    noun = "pengingat kontrol"
    words = frozenset({"kontrol"})
    schema = KontrolDetails()
    name_field = "nama_dokter"
    is_done_by_answers = False
    example = EXAMPLE

    def has_times(self, details: Details) -> bool:
        return bool(details.get("datetime"))

    def schedule(self, details: Details, first_at: datetime | None, zone: ZoneInfo) -> Schedule:
        visit = details.get("datetime")
        offsets = tuple(row["offset"] for row in details.get("reminder_offsets", []))
        return Schedule(zone, single_at=datetime.fromisoformat(visit) if visit else first_at, lead_offsets=offsets)

    def lead(self, slot: str) -> timedelta:
        return OFFSETS.get(slot, timedelta())

    def sentence(self, details: Details, title: str, slot: str, local: datetime) -> str:
        doctor = _doctor(details)
        whom = f" dengan {doctor}" if doctor else after_blank(break_links(title))
        at = f"{calendar_day(local)} pukul {clock_time(local)}"
        return f"{LEADS.get(slot, '')}jadwal kontrol{whom}{_place(details)}, {at}."

    def what(self, details: Details, slot: str, day: date) -> str:
        return (_doctor(details) + _place(details)).strip()


def _doctor(details: Details) -> str:
    """Return the doctor, for example `dr. Ani (Penyakit Dalam)`."""
    doctor, field = (break_links(details.get(name) or "") for name in ("nama_dokter", "spesialisasi"))
    return doctor + (f" ({field})" if doctor and field else "")


def _place(details: Details) -> str:
    return at_place(break_links(details.get("nama_faskes") or ""))
