"""Stock of a medicine. Each done dose is subtracted once. The person can set the stock and add purchases."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.helpers.client import assert_error
from tests.pengingat.ledgers import ledger
from tests.pengingat.stock import answer, left, make

# --- answers --------------------------------------------------------------------------------------------------------


def test_a_done_dose_is_deducted_from_the_stock_once(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    for _ in range(3):
        answer(siti, path, "done")
    assert left(siti, path) == 9.5
    moment.move(hours=11)  # an hour before the next dose
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 8.5


def test_a_dose_changed_from_done_to_skipped_is_added_back_to_the_stock(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    for status, sisa in (("done", 9.5), ("skipped", 10), ("skipped", 10), ("done", 9.5), ("skipped", 10)):
        answer(siti, path, status)
        assert left(siti, path) == sisa


def test_setting_is_done_deducts_and_restores_stock_like_an_answer(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    for is_done, sisa in ((True, 9.5), (True, 9.5), (False, 10), (False, 10), (True, 9.5)):
        assert siti.put(path, {"is_done": is_done}).json["details"]["persediaan"]["sisa"] == sisa
    answer(siti, path, "done")
    assert left(siti, path) == 9.5


def test_a_missed_dose_is_not_deducted_until_it_is_done(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=13)
    jobs.miss_overdue()
    assert left(siti, path) == 10
    answer(siti, path, "done")
    assert left(siti, path) == 9.5


def test_an_occurrence_missed_before_it_became_a_medicine_deducts_nothing(siti, moment, obat):
    meal = {"sarapan": {"jam": "11:00"}}
    sent = {"tipe": "makan", "judul": "Makan", "waktu": "2026-03-02T11:00:00Z", "details": meal}
    path = f"/pengingat/{siti.post('/pengingat/', sent).json['id']}"
    moment.move(hours=11.5)
    jobs.miss_overdue()
    details = {**obat["details"], "persediaan": {"sisa": 10}}
    assert siti.put(path, {"tipe": "obat", "details": details}).status_code == 200
    answer(siti, path, "done", "2026-03-02T11:00:00Z")
    assert left(siti, path) == 10


def test_a_dose_of_a_temporary_schedule_deducts_its_own_amount(siti, moment, obat):
    other = [{"jam": "11:00", "jumlah": 3, "satuan": "tablet"}, {"jam": "21:00", "jumlah": 1, "satuan": "tablet"}]
    temporary = {"mulai": "2026-03-02", "selesai": "2026-03-02", "jadwal": other}
    path = make(siti, obat, 10, jadwal_sementara=temporary)
    moment.move(hours=10)
    answer(siti, path, "done", "2026-03-02T11:00:00Z")
    assert left(siti, path) == 7
    moment.move(hours=25)
    answer(siti, path, "done", "2026-03-03T12:00:00Z")
    assert left(siti, path) == 6.5


def test_an_empty_stock_stays_at_0_and_does_not_stop_reminders(siti, moment, obat):
    path = make(siti, obat, 0.25)
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    assert left(siti, path) == 0
    moment.move(hours=11)
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 0
    answer(siti, path, "skipped", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 0
    answer(siti, path, "skipped")
    assert left(siti, path) == 0.25
    assert ledger()[-1] == "04 00:00 0 pending"


def test_repeated_deductions_of_tenths_have_no_rounding_error(siti, moment, obat):
    obat["details"]["jadwal"][1]["jumlah"] = 0.1
    path = make(siti, obat, 0.3)
    moment.move(hours=11, minutes=5)
    for _ in range(3):
        answer(siti, path, "done")
        answer(siti, path, "skipped")
    answer(siti, path, "done")
    assert left(siti, path) == 0.2


def test_a_dose_removed_from_the_schedule_deducts_nothing(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=12)
    answer(siti, path, "skipped")
    one = {**obat["details"], "frekuensi": 1, "jadwal": obat["details"]["jadwal"][:1], "persediaan": {"sisa": 10}}
    assert siti.put(path, {"details": one}).status_code == 200
    answer(siti, path, "done")
    assert left(siti, path) == 10


def test_a_late_answer_to_the_last_dose_of_a_course_deducts_stock(siti, moment, obat):
    path = make(siti, obat, 10, selesai="2026-03-02")
    moment.move(days=3)
    jobs.miss_overdue()
    answer(siti, path, "done")
    assert left(siti, path) == 9.5
    answer(siti, path, "skipped")
    assert left(siti, path) == 10


def test_without_a_stock_nothing_is_counted(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    assert "persediaan" not in siti.get(path).json["details"]
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 5}}})
    answer(siti, path, "skipped")  # nothing is added back, because the done dose was not subtracted
    assert left(siti, path) == 5


def test_persediaan_of_a_meal_is_not_used_as_a_stock(siti, moment):
    details = {"sarapan": {"jam": "12:00"}, "persediaan": {"sisa": 5}}
    record = siti.post("/pengingat", {"tipe": "makan", "judul": "M", "details": details}).json
    path = f"/pengingat/{record['id']}"
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    assert siti.get(path).json["details"] == details
    assert_error(siti.post(f"{path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")


# --- changes by the person ------------------------------------------------------------------------------------------


def test_details_set_the_stock(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    details = siti.get(path).json["details"]
    assert siti.put(path, {"details": {**details, "persediaan": {"sisa": 24}}}).status_code == 200
    assert left(siti, path) == 24
    answer(siti, path, "skipped")
    assert left(siti, path) == 24.5
    assert siti.put(path, {"details": obat["details"]}).status_code == 200
    assert "persediaan" not in siti.get(path).json["details"]


@pytest.mark.parametrize(
    ("persediaan", "field"),
    [
        ({}, "details.persediaan.sisa"),
        ({"sisa": -1}, "details.persediaan.sisa"),
        ({"sisa": "banyak"}, "details.persediaan.sisa"),
        ({"sisa": 1_000_001}, "details.persediaan.sisa"),
        ({"sisa": 1, "ingatkan_hari": 0}, "details.persediaan.ingatkan_hari"),
        ({"sisa": 1, "ingatkan_hari": 31}, "details.persediaan.ingatkan_hari"),
        ([], "details.persediaan"),
    ],
)
def test_a_stock_that_makes_no_sense_is_refused(siti, obat, persediaan, field):
    sent = {**obat, "details": {**obat["details"], "persediaan": persediaan}}
    assert_error(siti.post("/pengingat/obat", sent), 400, field=field)


def test_the_ledger_stores_the_amount_deducted_for_a_dose(siti, moment, obat):
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    assert db.session.scalars(sa.select(Occurrence.stock_deducted).filter_by(slot="1", state="done")).one() == 0.5
