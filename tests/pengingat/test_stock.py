"""Stock of a medicine. Each done dose is subtracted once. The person can set the stock and add purchases.

NOW is Monday, 2 March 2026, 08:00 in Jakarta. The doses are 1 tablet at 07:00 and 0.5 at 19:00 in Jakarta.
"""

import pytest

from app.pengingat import jobs
from tests.helpers.client import assert_error
from tests.pengingat.answering import create, dose, with_doses
from tests.pengingat.ledgers import ledger
from tests.routes.requests import undone

TONIGHT, MORNING = "2026-03-02T12:00:00Z", "2026-03-03T00:00:00Z"


@pytest.fixture
def medicine(siti, moment, obat):
    """Return a medicine with 10 tablets. A dose of half a tablet was due five minutes ago."""
    medicine = create(siti, obat, persediaan={"sisa": 10})
    moment.move(hours=11, minutes=5)
    return medicine


def left_after(medicine, status, due_at=TONIGHT):
    medicine.answer(status, due_at=due_at)
    return medicine.left


def test_a_dose_is_deducted_once_while_it_is_done(medicine, moment):
    for status, sisa in (
        ("done", 9.5), ("done", 9.5), ("skipped", 10), ("skipped", 10), ("done", 9.5), ("undo", 10), ("done", 9.5),
    ):  # fmt: skip
        assert left_after(medicine, status) == sisa
    moment.move(hours=11)  # an hour before the next dose
    assert left_after(medicine, "done", MORNING) == 8.5


def test_setting_is_done_deducts_and_restores_stock_like_an_answer(medicine):
    for is_done, sisa in ((True, 9.5), (True, 9.5), (False, 10), (False, 10), (True, 9.5)):
        assert medicine.put(is_done=is_done)["details"]["persediaan"]["sisa"] == sisa
    assert left_after(medicine, "done") == 9.5


def test_an_occurrence_missed_before_it_became_a_medicine_deducts_nothing(siti, moment, obat):
    meal = create(siti, {"tipe": "makan", "judul": "Makan", "details": {"sarapan": {"jam": "11:00"}}})
    moment.move(hours=11.5)
    jobs.miss_overdue()
    meal.put(tipe="obat", details={**obat["details"], "persediaan": {"sisa": 10}})
    assert left_after(meal, "done", "2026-03-02T11:00:00Z") == 10


def test_a_dose_of_a_temporary_schedule_deducts_its_own_amount(siti, moment, obat):
    other = {"mulai": "2026-03-02", "selesai": "2026-03-02", "jadwal": [dose("11:00", 3), dose("21:00")]}
    medicine = create(siti, obat, persediaan={"sisa": 10}, jadwal_sementara=other)
    moment.move(hours=10)
    assert left_after(medicine, "done", "2026-03-02T11:00:00Z") == 7
    moment.move(hours=25)
    assert left_after(medicine, "done", "2026-03-03T12:00:00Z") == 6.5


def test_an_empty_stock_stays_at_0_and_does_not_stop_reminders(siti, moment, obat):
    medicine = create(siti, obat, persediaan={"sisa": 0.25})
    moment.move(hours=11, minutes=5)
    assert left_after(medicine, "done") == 0
    moment.move(hours=11)
    assert left_after(medicine, "done", MORNING) == 0
    assert left_after(medicine, "skipped", MORNING) == 0
    assert left_after(medicine, "skipped") == 0.25
    assert ledger()[-1] == "04 00:00 0 pending"


def test_a_dose_removed_from_the_schedule_deducts_nothing(medicine, moment, obat):
    medicine.say("skipped")
    medicine.put(details=with_doses(obat, "00:00", persediaan={"sisa": 10}))
    assert left_after(medicine, "done") == 10


def test_a_missed_dose_is_deducted_only_by_a_late_answer(siti, moment, obat):
    medicine = create(siti, obat, persediaan={"sisa": 10}, selesai="2026-03-02")
    moment.move(days=3)
    jobs.miss_overdue()
    assert medicine.left == 10
    assert left_after(medicine, "done") == 9.5
    assert left_after(medicine, "skipped") == 10


def test_without_a_stock_nothing_is_counted(metformin, moment, obat):
    moment.move(hours=11, minutes=5)
    metformin.say("done")
    assert "persediaan" not in metformin.record["details"]
    metformin.put(details={**obat["details"], "persediaan": {"sisa": 5}})
    assert left_after(metformin, "skipped") == 5  # nothing is added back, because the done dose was not subtracted


def test_persediaan_of_a_meal_is_not_used_as_a_stock(siti, moment):
    details = {"sarapan": {"jam": "12:00"}, "persediaan": {"sisa": 5}}
    meal = create(siti, {"tipe": "makan", "judul": "M", "details": details})
    moment.move(hours=11, minutes=5)
    assert left_after(meal, "done") == 5
    assert meal.record["details"] == details
    assert_error(siti.post(f"{meal.path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")


def test_details_set_the_stock(medicine, obat):
    medicine.say("done")
    medicine.put(details={**medicine.record["details"], "persediaan": {"sisa": 24}})
    assert medicine.left == 24
    assert left_after(medicine, "skipped") == 24.5
    assert "persediaan" not in medicine.put(details=obat["details"])["details"]


def test_the_stock_is_counted_without_rounding(siti, moment, obat):
    for stock, amount, rest in ((10, 0.0000001, 9.9999999), (1000, 0.0000025, 999.9999975), (0.3, 0.1, 0.2)):
        with undone():
            medicine = create(siti, obat, **with_doses(obat, dose("12:00", amount), persediaan={"sisa": stock}))
            moment.move(hours=11, minutes=5)
            assert left_after(medicine, "done") == rest
            assert left_after(medicine, "skipped") == stock
            medicine.buy(amount)
            assert left_after(medicine, "done") == stock
            moment.move(hours=-11, minutes=-5)
