"""Messages that a reminder adds to the outbox or cancels."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.helpers.factories import PASSWORD
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import ledger, texts, waiting


def test_a_new_reminder_adds_deliveries_of_both_channels_for_36_hours(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]
    assert texts()[1] == "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB."
    row = db.session.scalars(sa.select(Delivery)).first()
    assert row is not None
    assert row.expires_at - row.due_at == timedelta(minutes=60)


def test_messages_contain_no_link_after_an_edit_or_a_background_job(siti, moment, obat):
    details = {**obat["details"], "nama_obat": "Metformin judi.com"}
    created = siti.post("/pengingat/obat", {"judul": "Menang di https://judi.com", "details": details})
    siti.put(f"/pengingat/{created.json['id']}", {"details": {**details, "nama_obat": "Insulin www.judi.zzz"}})
    moment.move(hours=30)
    jobs.top_up()
    said = [str(words_of(row)) for row in db.session.scalars(sa.select(Delivery))]
    assert (len(said), "Insulin" in said[0]) == (14, True)
    assert not [words for words in said if "judi.com" in words or "://" in words or "www.judi" in words]
    assert created.json["details"]["nama_obat"] == "Metformin judi.com"  # the stored details keep the link


def test_a_visit_has_notices_an_hour_and_a_day_before_but_none_in_the_past(siti, moment, kontrol):
    siti.post("/pengingat/", kontrol)  # the appointment is in 26 hours
    assert waiting() == ["02 03:00", "03 02:00"]
    # This appointment is in 22 hours, so the notice of one day before would be in the past.
    siti.post("/pengingat/", {**kontrol, "waktu": "2026-03-02T23:00:00Z"})
    assert waiting() == ["02 03:00", "02 22:00", "03 02:00"]


def test_repeated_top_ups_add_one_delivery_for_each_occurrence(siti, moment, obat):
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


def test_top_up_skips_no_day_if_the_machines_clock_is_days_ahead(siti, moment, obat, monkeypatch):
    siti.post("/pengingat/obat", obat)
    monkeypatch.setattr(local_time, "now", lambda: moment.now + timedelta(days=10))
    moment.move(hours=20)
    jobs.top_up()
    assert waiting()[:4] == ["02 12:00", "03 00:00", "03 12:00", "04 00:00"]


def test_top_up_ignores_a_past_visit(siti, moment, kontrol):
    siti.post("/pengingat/", kontrol)
    moment.move(days=30)
    assert jobs.top_up_page() == 0


def test_a_new_schedule_cancels_the_old(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
    siti.put(f"/pengingat/{created['id']}", {"details": details})
    assert waiting() == waiting("push_fan_out") == ["02 05:00", "03 05:00"]


def test_returning_to_the_old_schedule_restores_its_deliveries(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{created['id']}", {"timezone": "Asia/Jayapura", "details": {**obat["details"], "frekuensi": 1,
             "jadwal": obat["details"]["jadwal"][:1]}})  # fmt: skip
    assert waiting() == ["03 00:00"]
    siti.put(f"/pengingat/{created['id']}", {"timezone": "Asia/Jakarta", "details": obat["details"]})
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_new_title_changes_only_the_text_of_the_deliveries(siti, moment, kontrol):
    created = siti.post("/pengingat/", {**kontrol, "details": {"reminder_offsets": [{"offset": "1h"}]}}).json
    siti.put(f"/pengingat/{created['id']}", {"judul": "Periksa gula"})
    assert waiting() == ["03 02:00"]
    assert "jadwal kontrol Periksa gula" in texts()[0]


def test_a_late_delivery_survives_a_new_title_and_a_new_schedule(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)  # the first dose was due ten minutes ago
    siti.put(f"/pengingat/{created['id']}", {"judul": "Baru"})
    assert waiting()[0] == "02 12:00"
    siti.put(f"/pengingat/{created['id']}", {"details": {**obat["details"], "frekuensi": 1,
             "jadwal": [{"jam": "12:05", "jumlah": 1, "satuan": "tablet"}]}})  # fmt: skip
    assert waiting() == ["02 12:00", "03 12:05"]  # today's new time is in the past too


def test_an_update_with_the_unchanged_record_changes_no_deliveries(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)
    siti.put(f"/pengingat/{created['id']}", created)
    assert waiting()[:3] == ["02 12:00", "03 00:00", "03 12:00"]
    siti.put(f"/pengingat/{created['id']}", {**created, "is_done": True})  # answers the dose that was just due
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]


def test_deleting_a_reminder_cancels_its_deliveries(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    siti.delete(f"/pengingat/{created['id']}")
    assert waiting() == waiting("push_fan_out") == []


def test_reminders_resume_without_missed_doses_after_a_cancelled_erasure(siti, moment, obat):
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


def test_a_new_title_updates_planned_deliveries_with_six_statements(siti, moment, obat, public, statements):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    before = (waiting(), waiting("push_fan_out"))
    with statements.at_most(6):
        assert siti.put(path, {"judul": "Gula pagi"}).status_code == 200
    assert all("Pengingat: Gula pagi." in text for text in texts())
    assert (waiting(), waiting("push_fan_out")) == before
    assert set(db.session.scalars(sa.select(Occurrence.judul))) == {"Gula pagi"}


def test_new_details_of_a_medicine_update_its_planned_deliveries(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    planned = db.session.scalars(sa.select(Delivery.id).order_by(Delivery.id)).all()
    siti.put(path, {"details": {**obat["details"], "nama_obat": "Insulin", "aturan": "sebelum makan"}})
    assert all("Insulin" in text and "sebelum makan" in text for text in texts())
    assert db.session.scalars(sa.select(Delivery.id).filter_by(state="pending").order_by(Delivery.id)).all() == planned
