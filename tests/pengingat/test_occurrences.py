"""What reminders put into the outbox, and take out of it."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.lib import clock
from app.notifications.delivery import claims
from app.notifications.models import Channel, Delivery, State
from app.pengingat import jobs, service
from app.pengingat.models import Reminder
from tests.client import Client
from tests.factories import make_user
from tests.pengingat.conftest import NOW, Time, waiting


@pytest.fixture
def siti(client: Client) -> Client:
    return client.as_(make_user(nama_ktp="Siti Aminah"))


def texts() -> list[str]:
    rows = db.session.scalars(
        sa.select(Delivery.payload["text"].astext).filter_by(channel="messaging", state="pending")
    )
    return sorted(rows)


def test_the_next_36_hours_are_rows_of_both_channels(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    siti.post("/pengingat/obat", obat)
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]
    assert texts()[1] == "Halo Siti, waktunya minum Metformin (0,5 tablet, setelah makan) pukul 19.00 WIB."
    row = db.session.scalars(sa.select(Delivery)).first()
    assert row is not None
    assert row.expires_at - row.due_at == timedelta(minutes=60)


def test_a_visit_is_reminded_of_an_hour_and_a_day_before_but_not_in_the_past(
    siti: Client, moment: Time, kontrol: dict[str, Any]
) -> None:
    siti.post("/pengingat/", kontrol)  # in 26 hours
    assert waiting() == ["02 03:00", "03 02:00"]
    siti.post("/pengingat/", {**kontrol, "waktu": "2026-03-02T23:00:00Z"})  # in 22 hours: a day before is past
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
    monkeypatch.setattr(clock, "now", lambda: moment.now + timedelta(days=10))
    moment.move(hours=20)
    jobs.top_up()
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00", "04 00:00"]


def test_a_reminder_that_is_over_is_not_looked_at_again(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    siti.post("/pengingat/", kontrol)
    moment.move(days=30)
    assert jobs.top_up_page() == 0


def test_a_new_schedule_cancels_the_old(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
    siti.put(f"/pengingat/{made['id']}", {"details": details})
    assert waiting() == waiting("push_fan_out") == ["02 05:00", "03 05:00"]
    assert waiting(state="cancelled") == ["02 12:00", "03 00:00", "03 12:00"]


def test_back_to_the_old_schedule_brings_its_rows_back(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{made['id']}", {"timezone": "Asia/Jayapura", "details": {**obat["details"], "frekuensi": 1,
             "jadwal": obat["details"]["jadwal"][:1]}})  # fmt: skip
    assert waiting() == ["03 00:00"]
    siti.put(f"/pengingat/{made['id']}", {"timezone": "Asia/Jakarta", "details": obat["details"]})
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_new_title_changes_the_words_alone(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    made = siti.post("/pengingat/", {**kontrol, "details": {"reminder_offsets": [{"offset": "1h"}]}}).json
    siti.put(f"/pengingat/{made['id']}", {"judul": "Periksa gula"})
    assert waiting() == ["03 02:00"]
    assert "jadwal kontrol Periksa gula" in texts()[0]


def test_what_is_late_survives_a_new_title_but_not_a_new_schedule(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    made = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)  # the first dose is ten minutes late
    siti.put(f"/pengingat/{made['id']}", {"judul": "Baru"})
    assert waiting()[0] == "02 12:00"
    siti.put(f"/pengingat/{made['id']}", {"details": {**obat["details"], "frekuensi": 1,
             "jadwal": [{"jam": "12:05", "jumlah": 1, "satuan": "tablet"}]}})  # fmt: skip
    assert waiting() == ["03 12:05"]  # the new time of today is past, too


def test_a_client_that_sends_the_whole_record_back_changes_nothing(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    made = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=10)
    siti.put(f"/pengingat/{made['id']}", made)
    assert waiting() == ["02 12:00", "03 00:00", "03 12:00", "04 00:00"]
    siti.put(f"/pengingat/{made['id']}", {**made, "is_done": True})  # of the dose that has just been due
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]


def test_deleting_takes_everything_back(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    siti.delete(f"/pengingat/{made['id']}")
    assert waiting() == waiting("push_fan_out") == []


# --- is_done --------------------------------------------------------------------------------------------------------


def test_done_before_the_first_dose_quiets_that_one_alone(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    assert siti.put(f"/pengingat/{made['id']}", {"is_done": True}).json["is_done"] is True
    assert waiting() == ["03 00:00", "03 12:00"]
    moment.move(hours=22, minutes=59)
    assert siti.get(f"/pengingat/{made['id']}").json["is_done"] is True
    moment.move(minutes=1)
    assert siti.get(f"/pengingat/{made['id']}").json["is_done"] is False


def test_done_after_a_dose_never_silences_the_next(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{made['id']}", {"is_done": True})
    siti.put(f"/pengingat/{made['id']}", {"is_done": True})
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]
    moment.move(hours=13)
    jobs.top_up()
    assert siti.get(f"/pengingat/{made['id']}").json["is_done"] is False


def test_not_done_after_all_is_reminded_of_again(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{made['id']}", {"is_done": True})
    answer = siti.put(f"/pengingat/{made['id']}", {"is_done": False}).json
    assert answer["is_done"] is False
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_visit_that_is_done_stays_done(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    made = siti.post("/pengingat/", kontrol).json
    siti.put(f"/pengingat/{made['id']}", {"is_done": True})
    assert waiting() == []
    moment.move(days=400)
    assert siti.get(f"/pengingat/{made['id']}").json["is_done"] is True


def test_a_new_schedule_of_something_done_is_not_done(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    made = siti.post("/pengingat/", kontrol).json
    done = siti.put(f"/pengingat/{made['id']}", {"is_done": True}).json
    moved = siti.put(f"/pengingat/{made['id']}", {**done, "waktu": "2026-03-03T04:00:00Z"}).json
    assert moved["is_done"] is False
    assert waiting() == ["02 04:00", "03 03:00"]


# --- zones ----------------------------------------------------------------------------------------------------------


def test_a_wall_time_stays_right_over_a_clock_change(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    moment.now = NOW.replace(day=27, hour=12)  # Berlin springs forward on the 29th
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "06:00", "jumlah": 1, "satuan": "tablet"}]}
    siti.post("/pengingat/obat", {**obat, "timezone": "Europe/Berlin", "details": details})
    for _ in range(6):
        moment.move(hours=12)
        jobs.top_up()
    assert waiting()[:4] == ["28 06:00", "29 05:00", "30 05:00", "31 05:00"]
    assert all("pukul 07.00 CE" in text for text in texts())


def test_the_weekday_is_the_local_dates(siti: Client, moment: Time) -> None:
    sent = {"tipe": "terapi", "judul": "T", "waktu": "2026-03-02T00:00:00Z"}
    # 23:00 UTC is 06:00 of the next day in Jakarta: Tuesday there begins on UTC's Monday.
    siti.post("/pengingat/", {**sent, "details": {"jadwal": [{"hari": "Selasa", "jam": "23:00"}]}})
    assert waiting() == ["02 23:00"]


def test_a_meal_without_times_is_daily_at_the_wall_time_of_waktu(siti: Client, moment: Time) -> None:
    sent = {"tipe": "makan", "judul": "M", "waktu": "2026-03-01T05:30:00Z", "details": {"sarapan": {}}}
    siti.post("/pengingat/", sent)
    assert waiting() == ["02 05:30", "03 05:30"]


def test_meals_with_times_are_daily_at_those(siti: Client, moment: Time) -> None:
    details = {"sarapan": {"jam": "23:30"}, "makan_malam": {"jam": "11:00"}, "selingan": {}}
    siti.post("/pengingat/", {"tipe": "makan", "judul": "M", "waktu": "2026-03-01T05:30:00Z", "details": details})
    assert waiting() == ["02 11:00", "02 23:30", "03 11:00"]


# --- races ----------------------------------------------------------------------------------------------------------


def run_together(app: Flask, *works: Any) -> None:
    start = Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Any) -> None:
        with app.app_context():
            start.wait()
            try:
                work()
            except BaseException as error:  # noqa: BLE001  # told below
                errors.append(error)

    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def make_reminders(count: int, obat: dict[str, Any]) -> tuple[int, list[int]]:
    with unit_of_work():
        user = make_user()
        user_id = user.id
    ids = []
    with unit_of_work():
        for _ in range(count):
            reminder = service.create(user_id, tipe="obat", timezone="Asia/Jakarta", **obat)
            ids.append(reminder.id)
    return user_id, ids


def test_four_clocks_at_once_make_every_occurrence_once(committed: Flask, moment: Time, obat: dict[str, Any]) -> None:
    make_reminders(100, obat)
    moment.move(hours=30)
    run_together(committed, *[jobs.top_up] * 4)
    rows = db.session.execute(sa.select(sa.func.count(), sa.func.count(Delivery.dedupe_key.distinct()))).one()
    per_reminder = len([due for due in waiting() if due]) / 100
    assert rows[0] == rows[1] == 100 * per_reminder * 2
    assert per_reminder == 5  # the doses of 66 hours


def test_an_edit_that_races_with_the_clock_leaves_the_new_schedule_alone(
    committed: Flask, moment: Time, obat: dict[str, Any]
) -> None:
    user_id, ids = make_reminders(30, obat)
    moment.move(hours=30)
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}

    def edit() -> None:
        for reminder_id in ids:
            with unit_of_work():
                service.change(user_id, reminder_id, {"details": details})

    run_together(committed, edit, jobs.top_up, jobs.top_up)
    jobs.top_up()
    assert set(waiting()) == {"04 05:00"}
    assert len(waiting()) == 30


def test_deleting_while_the_clock_tops_up_leaves_nothing(committed: Flask, moment: Time, obat: dict[str, Any]) -> None:
    user_id, ids = make_reminders(30, obat)
    moment.move(hours=30)

    def remove() -> None:
        for reminder_id in ids:
            with unit_of_work():
                service.delete(user_id, reminder_id)

    run_together(committed, remove, jobs.top_up, jobs.top_up)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Reminder)) == 0
    assert waiting() == []


def test_an_edit_while_a_worker_sends_does_not_send_twice(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    made = siti.post("/pengingat/obat", obat).json
    with unit_of_work():
        db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.statement_timestamp()))
        db.session.execute(sa.update(Delivery).values(expires_at=sa.func.statement_timestamp() + timedelta(hours=1)))
    found = claims.claim("urgent", Channel.MESSAGING)
    assert found is not None
    siti.put(f"/pengingat/{made['id']}", {"is_done": True})
    siti.put(f"/pengingat/{made['id']}", {"is_done": False})
    claims.settle_sent(found, None)
    row = db.session.get_one(Delivery, found.id, populate_existing=True)
    assert row.state == State.SENT
