"""A type of reminder that only this test has. It needs one class and one entry in the registry, and nothing else."""

from datetime import timedelta
from uuid import uuid4

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import clock_time
from app.core.web.fields import Text
from app.pengingat.models import Occurrence
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.types.base import WALL, DetailsSchema, ReminderType, TimeOfDay, slot_of
from app.pengingat.types.registry import TYPES
from tests.helpers import document
from tests.helpers.client import assert_error
from tests.inbox.reminders import mark_sent, state
from tests.pengingat.links import payloads
from tests.pengingat.reports import report, text_of


class UkurDetails(DetailsSchema):
    alat = Text(200, required=True)
    jam = TimeOfDay(required=True)


class Ukur(ReminderType):
    """Daily measurement with a device."""

    name = "ukur"
    noun = "pengukuran"
    schema = UkurDetails()
    name_field = "alat"

    def timed_parts(self, details):
        yield "", details

    def schedule(self, details, first_at, zone):
        return Schedule(zone, (slot_of("0", details),))

    def sentence(self, details, title, slot, local):
        return f"waktunya mengukur dengan {self.label(details, slot)} pukul {clock_time(local)}."

    def what(self, details, slot, day):
        return self.label(details, slot)

    def prescription(self, details):
        return f"{self.label(details, '')} setiap {details[WALL]}"


BODY = {"tipe": "ukur", "judul": "Gula darah", "details": {"alat": "Glukometer", "jam": "01:05"}}


def test_a_type_needs_only_its_class_and_its_entry(siti, phone, moment, monkeypatch):
    assert_error(siti.post("/pengingat", BODY), 400, field="tipe")
    monkeypatch.setitem(TYPES, "ukur", Ukur())
    # The document of the API was made from the registry when the process began, so it does not have this type.
    monkeypatch.setattr(document, "check", lambda *_: None)
    assert_error(siti.post("/pengingat", {**BODY, "details": {"jam": "8.05"}}), 400, field="details.alat")
    record = siti.post("/pengingat", BODY).json
    assert (record["details"], record["waktu"]) == (BODY["details"], "2026-03-02T01:05:00Z")
    (message, *_) = payloads("messaging")
    assert str(message["text"]).startswith("Halo Siti, waktunya mengukur dengan Glukometer pukul 08.05 WIB.")
    moment.move(minutes=10)
    row = db.session.scalars(sa.select(Occurrence).filter_by(due_at=moment.now - timedelta(minutes=5))).one()
    mark_sent(row, uuid4())
    row_id = row.id
    db.session.commit()
    assert phone.write("SUDAH").text == "Terima kasih, Siti. Pengukuran pukul 08.05 WIB sudah kami catat."
    assert state(row_id) == "done"
    (dose,) = siti.get("/pengingat/hari-ini?date=2026-03-02").json
    assert (dose["tipe"], dose["what"], dose["state"]) == ("ukur", "Glukometer", "done")
    assert "Gula darah Glukometer setiap 08:05 ukur 1 1 0 0 0 100" in text_of(
        report(siti, "start=2026-03-02&end=2026-03-02")
    )
