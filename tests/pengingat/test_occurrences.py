"""Messages that a reminder adds to the outbox or cancels."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import Time, ledger, texts, waiting


def test_the_next_36_hours_are_rows_of_both_channels(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    siti.post("/pengingat/obat", obat)
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]
    assert texts()[1] == "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB."
    row = db.session.scalars(sa.select(Delivery)).first()
    assert row is not None
    assert row.expires_at - row.due_at == timedelta(minutes=60)


def test_no_web_address_leaves_by_the_outbox(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    """Messages to an unverified number contain no web address, even after an edit or a background job."""
    details = {**obat["details"], "nama_obat": "Metformin judi.com"}
    created = siti.post("/pengingat/obat", {"judul": "Menang di https://judi.com", "details": details})
    siti.put(f"/pengingat/{created.json['id']}", {"details": {**details, "nama_obat": "Insulin www.judi.zzz"}})
    moment.move(hours=30)
    jobs.top_up()
    said = [str(words_of(row)) for row in db.session.scalars(sa.select(Delivery))]
    assert (len(said), "Insulin" in said[0]) == (10, True)
    assert not [words for words in said if "judi" in words]
    assert created.json["details"]["nama_obat"] == "Metformin judi.com"  # the stored details keep the address


def test_a_visit_is_reminded_of_an_hour_and_a_day_before_but_not_in_the_past(
    siti: Client, moment: Time, kontrol: dict[str, Any]
) -> None:
    siti.post("/pengingat/", kontrol)  # the appointment is in 26 hours
    assert waiting() == ["02 03:00", "03 02:00"]
    # This appointment is in 22 hours, so the notice of one day before would be in the past.
    siti.post("/pengingat/", {**kontrol, "waktu": "2026-03-02T23:00:00Z"})
    assert waiting() == ["02 03:00", "02 22:00", "03 02:00"]


def test_the_clock_tops_up_and_every_occurrence_stays_one_row(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    siti.post("/pengingat/obat", obat)
    for _ in range(20):
        moment.move(hours=5)
        jobs.top_up()
        jobs.top_up()
    keys = db.session.scalars(sa.select(Delivery.dedupe_key).filter_by(channel="messaging")).all()
    assert len(keys) == len(set(keys))
    planned = waiting()
    assert (
        planned
        == sorted({f"{day:02} {hour}" for day in range(2, 8) for hour in ("00:00", "12:00")})[1 : 1 + len(planned)]
    )
    assert len(planned) >= 10


def test_a_machine_whose_clock_is_days_ahead_skips_nothing(
    siti: Client, moment: Time, obat: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    siti.post("/pengingat/obat", obat)
    monkeypatch.setattr(local_time, "now", lambda: moment.now + timedelta(days=10))
    moment.move(hours=20)
    jobs.top_up()
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00", "04 00:00"]


def test_a_reminder_that_is_over_is_not_looked_at_again(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    siti.post("/pengingat/", kontrol)
    moment.move(days=30)
    assert jobs.top_up_page() == 0


def test_a_new_schedule_cancels_the_old(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
    siti.put(f"/pengingat/{created['id']}", {"details": details})
    assert waiting() == waiting("push_fan_out") == ["02 05:00", "03 05:00"]
    assert waiting(state="cancelled") == ["02 12:00", "03 00:00", "03 12:00"]


def test_back_to_the_old_schedule_brings_its_rows_back(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{created['id']}", {"timezone": "Asia/Jayapura", "details": {**obat["details"], "frekuensi": 1,
             "jadwal": obat["details"]["jadwal"][:1]}})  # fmt: skip
    assert waiting() == ["03 00:00"]
    siti.put(f"/pengingat/{created['id']}", {"timezone": "Asia/Jakarta", "details": obat["details"]})
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_new_title_changes_the_words_alone(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", {**kontrol, "details": {"reminder_offsets": [{"offset": "1h"}]}}).json
    siti.put(f"/pengingat/{created['id']}", {"judul": "Periksa gula"})
    assert waiting() == ["03 02:00"]
    assert "jadwal kontrol Periksa gula" in texts()[0]


def test_what_is_late_survives_a_new_title_but_not_a_new_schedule(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)  # the first dose was due ten minutes ago
    siti.put(f"/pengingat/{created['id']}", {"judul": "Baru"})
    assert waiting()[0] == "02 12:00"
    siti.put(f"/pengingat/{created['id']}", {"details": {**obat["details"], "frekuensi": 1,
             "jadwal": [{"jam": "12:05", "jumlah": 1, "satuan": "tablet"}]}})  # fmt: skip
    assert waiting() == ["03 12:05"]  # today's new time is in the past too


def test_a_client_that_sends_the_whole_record_back_changes_nothing(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)
    siti.put(f"/pengingat/{created['id']}", created)
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]
    siti.put(f"/pengingat/{created['id']}", {**created, "is_done": True})  # answers the dose that was just due
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]


def test_deleting_takes_everything_back(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    siti.delete(f"/pengingat/{created['id']}")
    assert waiting() == waiting("push_fan_out") == []


def test_who_takes_leaving_back_is_asked_from_then_on_and_has_missed_nothing(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    siti.post("/pengingat/obat", obat)
    username = siti.get("/profile").json["username"]
    assert siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    for _ in range(50):
        moment.move(hours=1)
        jobs.top_up()
    assert siti.post("/login", {"username": username, "password": PASSWORD}).status_code == 200
    moment.move(minutes=1)
    jobs.top_up()
    jobs.miss_overdue()
    # The present time is Wednesday, 10:01 in Jakarta.
    assert [row for row in ledger() if not row.endswith("void")] == [
        "04 12:00 1 pending",
        "05 00:00 0 pending",
        "05 12:00 1 pending",
    ]
    assert waiting() == ["04 12:00", "05 00:00", "05 12:00"]


def test_a_new_title_costs_six_statements_and_reaches_what_is_planned_already(
    siti: Client, moment: Time, obat: dict[str, Any], public: None, statements: Any
) -> None:
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    before = (waiting(), waiting("push_fan_out"))
    with statements.at_most(6):
        assert siti.put(path, {"judul": "Gula pagi"}).status_code == 200
    assert all("Pengingat: Gula pagi." in text for text in texts())
    assert (waiting(), waiting("push_fan_out")) == before
    assert set(db.session.scalars(sa.select(Occurrence.judul))) == {"Gula pagi"}


def test_new_words_of_a_dose_reach_what_is_planned_already(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    planned = db.session.scalars(sa.select(Delivery.id).order_by(Delivery.id)).all()
    siti.put(path, {"details": {**obat["details"], "nama_obat": "Insulin", "aturan": "sebelum makan"}})
    assert all("Insulin" in text and "sebelum makan" in text for text in texts())
    assert db.session.scalars(sa.select(Delivery.id).filter_by(state="pending").order_by(Delivery.id)).all() == planned
