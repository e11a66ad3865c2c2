"""Stock of a medicine. Each done dose is subtracted once. The person can set the stock and add purchases.

NOW is Monday, 2 March 2026, 08:00 in Jakarta. The doses are 1 tablet at 07:00 and 0.5 at 19:00 in Jakarta.
"""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.delivery import message_format
from app.notifications.models import Channel, Delivery
from tests.helpers.client import assert_error
from tests.notifications.deliveries import words_of
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
    moment.elapse(hours=11.5)
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
    moment.elapse(days=3)
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


# --- notices before a medicine runs out -------------------------------------------------------------------------------


@pytest.fixture
def make(siti, moment, obat):
    def medicine(sisa, *, ingatkan_hari=7, **details):
        return create(siti, obat, persediaan={"sisa": sisa, "ingatkan_hari": ingatkan_hari}, **details)

    return medicine


def notices():
    """Return the due times of the stock notices, as `dd HH:MM` in UTC."""
    rows = sa.select(Delivery.due_at).filter_by(kind="stock", channel="messaging", state="pending")
    return [f"{due_at:%d %H:%M}" for due_at in db.session.scalars(rows.order_by(Delivery.due_at))]


def said(channel="messaging"):
    """Return what the notices would say now. A notice that says nothing is left out."""
    rows = sa.select(Delivery).filter_by(kind="stock", channel=channel, state="pending").order_by(Delivery.id)
    return [words for row in db.session.scalars(rows) if (words := words_of(row))]


def test_a_notice_leaves_if_the_stock_is_enough_for_few_days(make, subtests):
    other = {"mulai": "2026-03-03", "selesai": "2026-03-03", "jadwal": [dose("11:00", 3), dose("21:00", 3)]}
    for sisa, details, day in (
        (2, {}, "Selasa, 3 Maret"),
        (0, {}, "Senin, 2 Maret"),
        (0.5 + 7 * 1.5, {}, "Senin, 9 Maret"),  # enough for 7 days, the default border
        (0.5 + 7 * 1.5 + 1, {}, None),
        (2.5, {"ingatkan_hari": 1}, "Selasa, 3 Maret"),
        (3, {"ingatkan_hari": 1}, None),
        (3, {"selesai": "2026-03-04"}, "Rabu, 4 Maret"),
        (3.5, {"selesai": "2026-03-04"}, None),  # enough for the whole course
        (100, {"selesai": "2026-02-01"}, None),
        (8, {"jadwal_sementara": other}, "Rabu, 4 Maret"),  # 0.5 tablets today, 6 on the 3rd and 1.5 on the 4th
    ):
        with subtests.test(day, sisa=sisa), undone():
            make(sisa, **details)
            assert notices() == (["02 02:00"] if day else [])  # the next 09:00 in Jakarta
            assert [words["text"] for words in said()] == (
                [f"Halo Siti, Metformin Anda kira-kira habis {day}. Yuk, siapkan lagi sebelum habis."] if day else []
            )


def test_the_notice_leaves_at_nine_in_the_time_zone_of_the_reminder(siti, obat, make):
    create(siti, {**obat, "timezone": "Asia/Jayapura"}, persediaan={"sisa": 1})  # it is already 10:00 in Jayapura
    make(1)
    assert notices() == ["02 02:00", "03 00:00"]


def test_the_dose_that_reaches_the_border_creates_the_only_notice(moment, make):
    medicine = make(5, ingatkan_hari=2)  # enough until Thursday
    assert notices() == []
    moment.move(hours=11, minutes=30)
    medicine.answer("done", due_at="2026-03-02T12:00:00Z")  # before its time: the dose is not needed again
    assert notices() == []
    moment.move(hours=12)
    medicine.answer("done", due_at="2026-03-03T00:00:00Z")
    assert notices() == ["03 02:00"]
    moment.move(hours=12, minutes=45)
    medicine.answer("done", due_at="2026-03-03T12:00:00Z")
    assert (notices(), medicine.left) == (["03 02:00"], 3)


def test_a_notice_that_is_no_longer_true_says_nothing_and_the_next_fall_is_told_again(moment, obat, make):
    medicine = make(2)
    medicine.buy(6)  # less than 7 days ahead: the notice is still true
    assert "Sabtu, 7 Maret" in said()[0]["text"]
    medicine.buy(100)
    assert said() == []
    moment.move(days=1)
    for sisa in (3, 2):
        medicine.put(details={**obat["details"], "persediaan": {"sisa": sisa}})
        assert notices() == ["02 02:00", "03 02:00"]


def test_taking_an_answer_back_makes_the_notice_untrue(moment, make):
    medicine = make(3.5, ingatkan_hari=1)
    moment.move(hours=24)
    medicine.answer("done", due_at="2026-03-03T00:00:00Z")
    assert len(said()) == 1
    medicine.answer("undo")
    assert said() == []


def test_a_deleted_reminder_or_another_type_says_nothing(siti, make):
    first, second = make(1), make(1)
    assert len(said()) == 2
    siti.delete(first.path)
    second.put(tipe="makan", details={"sarapan": {"jam": "23:00"}, "persediaan": {"sisa": 1}})
    assert said() == []


def test_the_notice_is_a_message_with_a_name_and_a_push(make):
    make(2)
    assert message_format.parts_of(said()[0])["name"] == "Siti"
    (push,) = said("push_fan_out")
    assert push == {
        "title": "Persediaan obat",
        "body": "Metformin Anda kira-kira habis Selasa, 3 Maret. Yuk, siapkan lagi sebelum habis.",
    }
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="push_fan_out")).one()
    row.channel = Channel.PUSH  # a push to one browser has the same text
    assert words_of(row) == push
