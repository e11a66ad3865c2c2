"""Messages that a reminder adds to the outbox or cancels."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.helpers.factories import PASSWORD
from tests.notifications.deliveries import words_of
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import NOW, ledger, texts, waiting


def test_a_new_reminder_adds_deliveries_of_both_channels_for_36_hours(metformin):
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]
    assert texts()[1] == "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB."
    row = db.session.scalars(sa.select(Delivery).limit(1)).one()
    assert row.expires_at - row.due_at == timedelta(minutes=60)


def test_messages_contain_no_link_after_an_edit_or_a_background_job(siti, moment, obat):
    reminder = create(siti, {**obat, "judul": "Menang di https://judi.com"}, nama_obat="Metformin judi.com")
    assert reminder.record["details"]["nama_obat"] == "Metformin judi.com"  # the stored details keep the link
    reminder.put(details={**obat["details"], "nama_obat": "Insulin www.judi.zzz"})
    moment.move(hours=30)
    jobs.top_up()
    said = [str(words_of(row)) for row in db.session.scalars(sa.select(Delivery))]
    assert (len(said), "Insulin" in said[0]) == (14, True)
    assert not [words for words in said if "judi.com" in words or "://" in words or "www.judi" in words]


def test_a_visit_has_notices_an_hour_and_a_day_before_but_none_in_the_past(siti, moment, kontrol):
    create(siti, kontrol)  # the appointment is in 26 hours
    assert waiting() == ["02 03:00", "03 02:00"]
    # This appointment is in 22 hours, so the notice of one day before would be in the past.
    create(siti, {**kontrol, "waktu": "2026-03-02T23:00:00Z"})
    assert waiting() == ["02 03:00", "02 22:00", "03 02:00"]


def test_repeated_top_ups_plan_each_due_time_once_in_the_ledger_and_the_outbox(metformin, moment):
    for _ in range(20):
        moment.move(hours=5)
        jobs.top_up()
        jobs.top_up()
    keys = db.session.scalars(sa.select(Delivery.dedupe_key).filter_by(channel="messaging")).all()
    assert len(keys) == len(set(keys))
    planned = waiting()
    every = sorted({f"{day:02} {hour}" for day in range(2, 8) for hour in ("00:00", "12:00")})
    assert planned == every[1 : 1 + len(planned)] == [line.rsplit(" ", 2)[0] for line in ledger()]
    assert len(planned) >= 10


def test_top_up_skips_no_day_if_the_machines_clock_is_days_ahead(metformin, moment, monkeypatch):
    monkeypatch.setattr(local_time, "now", lambda: moment.now + timedelta(days=10))
    moment.move(hours=20)
    jobs.top_up()
    assert waiting()[:4] == ["02 12:00", "03 00:00", "03 12:00", "04 00:00"]


def test_top_up_ignores_a_past_visit(siti, moment, kontrol):
    create(siti, kontrol)
    moment.move(days=30)
    assert jobs.top_up_page() == 0


def test_a_new_schedule_cancels_the_old_and_returning_restores_it(metformin, obat):
    before, old = ledger(), ["02 12:00", "03 00:00", "03 12:00"]
    metformin.put(details=with_doses(obat, "05:00"))
    assert waiting() == waiting("push_fan_out") == ["02 05:00", "03 05:00"]
    voided = [row.replace("pending", "void") for row in before]
    assert ledger() == sorted([*voided, "02 05:00 0 pending", "03 05:00 0 pending"])
    metformin.put(details=obat["details"])
    assert ledger() == sorted([*before, "02 05:00 0 void", "03 05:00 0 void"])
    assert waiting() == old
    metformin.put(timezone="Asia/Jayapura", details=with_doses(obat, *obat["details"]["jadwal"][:1]))
    assert waiting() == ["03 00:00"]
    metformin.put(timezone="Asia/Jakarta", details=obat["details"])
    assert waiting() == old


def test_a_late_delivery_survives_a_new_title_and_a_new_schedule(metformin, moment, obat):
    moment.move(hours=11, minutes=10)  # the first dose was due ten minutes ago
    metformin.put(judul="Baru")
    assert waiting()[0] == "02 12:00"
    metformin.put(details=with_doses(obat, "12:05"))
    assert waiting() == ["02 12:00", "03 12:05"]  # today's new time is in the past too


def test_an_update_with_the_unchanged_record_changes_no_deliveries(metformin, moment):
    record = metformin.record
    moment.move(hours=11, minutes=10)
    metformin.put(**record)
    assert waiting()[:3] == ["02 12:00", "03 00:00", "03 12:00"]
    metformin.put(**{**record, "is_done": True})  # answers the dose that was just due
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]


def test_reminders_resume_without_missed_doses_after_a_cancelled_erasure(siti, metformin, moment):
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
    resumed = ["04 12:00", "05 00:00", "05 12:00"]
    slots = zip(resumed, "101", strict=True)
    assert [row for row in ledger() if not row.endswith("void")] == [f"{due} {slot} pending" for due, slot in slots]
    assert waiting() == resumed


def test_new_names_change_only_the_texts_of_planned_deliveries(metformin, moment, obat, public):
    planned = db.session.scalars(sa.select(Delivery.id).order_by(Delivery.id)).all()
    metformin.put(judul="Gula pagi")
    assert all("Pengingat: Gula pagi." in text for text in texts())
    assert set(db.session.scalars(sa.select(Occurrence.judul))) == {"Gula pagi"}
    metformin.put(details={**obat["details"], "nama_obat": "Insulin", "aturan": "sebelum makan"})
    assert all("Insulin" in text and "sebelum makan" in text for text in texts())
    assert db.session.scalars(sa.select(Delivery.id).filter_by(state="pending").order_by(Delivery.id)).all() == planned


def test_a_claimed_delivery_ends_as_sent_after_an_edit_of_its_reminder(metformin):
    now = sa.func.statement_timestamp()
    with unit_of_work():
        db.session.execute(sa.update(Delivery).values(next_try_at=now, expires_at=now + timedelta(hours=1)))
    claimed = claims.claim("urgent", Channel.MESSAGING)
    metformin.put(is_done=True)
    metformin.put(is_done=False)
    settlements.record_sent(claimed, None)
    assert db.session.get_one(Delivery, claimed.id, populate_existing=True).state == "sent"


# --- times in the zone of the reminder -------------------------------------------------------------------------------


def test_a_wall_time_stays_right_over_a_clock_change(siti, moment, obat):
    moment.now = NOW.replace(day=27, hour=12)  # summer time begins in Berlin on the 29th
    create(siti, {**obat, "timezone": "Europe/Berlin"}, **with_doses(obat, "06:00"))
    for _ in range(6):
        moment.move(hours=12)
        jobs.top_up()
    assert waiting()[:4] == ["28 06:00", "29 05:00", "30 05:00", "31 05:00"]
    assert all("pukul 07.00 CE" in text for text in texts())


def test_the_weekday_is_that_of_the_local_date(siti, moment):
    # Monday 23:00 UTC is Tuesday 06:00 in Jakarta.
    create(siti, {"tipe": "terapi", "judul": "T", "details": {"jadwal": [{"hari": "Selasa", "jam": "23:00"}]}})
    assert waiting() == ["02 23:00"]


def test_meals_are_daily_at_their_own_times_or_else_at_the_wall_time_of_waktu(siti, moment):
    sent = {"tipe": "makan", "judul": "M", "waktu": "2026-03-01T05:30:00Z"}
    meal = create(siti, {**sent, "details": {"sarapan": {}}})
    assert waiting() == ["02 05:30", "03 05:30"]
    meal.put(details={"sarapan": {"jam": "23:30"}, "makan_malam": {"jam": "11:00"}, "selingan": {}})
    assert waiting() == ["02 11:00", "02 23:30", "03 11:00"]


# --- second message about an unanswered dose (`ingatkan_ulang_menit`) -------------------------------------------------


@pytest.fixture
def medicine(siti, moment, obat):
    def make(minutes, *jam):
        return create(siti, obat, **with_doses(obat, *(jam or ("12:00",)), ingatkan_ulang_menit=minutes))

    return make


def test_a_dose_gets_a_second_message_unless_it_is_answered(moment, medicine):
    reminder = medicine(30)
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "02 12:30", "03 12:00", "03 12:30"]
    assert ledger() == ["02 12:00 0 pending", "03 12:00 0 pending"]
    moment.move(hours=11, minutes=5)
    reminder.say("done")
    assert "02 12:30" not in waiting()


@pytest.mark.parametrize(("before", "after"), [(60, 10), (10, 60), (30, None), (None, 30)])
def test_an_edit_moves_adds_or_removes_the_second_messages_also_of_a_due_dose(moment, medicine, before, after):
    reminder = medicine(before)
    moment.move(hours=11, minutes=5)
    reminder.put(details={**reminder.record["details"], "ingatkan_ulang_menit": after})
    again = {10: "12:10", 30: "12:30", 60: "13:00"}.get(after)
    assert [each for each in waiting() if not each.endswith("12:00")] == (
        [f"02 {again}", f"03 {again}"] if again else []
    )


@pytest.mark.parametrize(
    ("jam", "due"),
    [
        ("14:45", ["02 14:45"]),  # 21:45 in Jakarta: no repeat, because 22:15 would be at night
        ("15:00", ["02 15:00", "02 15:30"]),  # 22:00 in Jakarta: repeated, because the dose itself is at night
        ("22:10", ["02 22:10", "02 22:40"]),  # 05:10 and 05:40 in Jakarta
    ],
)
def test_a_second_message_is_queued_at_night_only_if_the_dose_is_at_night(medicine, jam, due):
    medicine(30, jam)
    assert [each for each in waiting() if each.startswith("02")] == due


def test_no_second_message_is_queued_at_the_time_of_the_next_dose(medicine):
    medicine(30, "04:00", "04:30")
    assert waiting()[:3] == ["02 04:00", "02 04:30", "02 05:00"]
    assert waiting().count("02 04:30") == 1


def test_a_snoozed_dose_gets_no_second_message(moment, medicine):
    reminder = medicine(20)
    moment.move(hours=11, minutes=5)
    reminder.say("snooze", minutes=15)
    assert waiting()[:2] == ["02 12:20", "03 12:00"]
