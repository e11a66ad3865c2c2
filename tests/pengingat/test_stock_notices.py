"""One notice before a medicine runs out: when it leaves, what it says, and when it is left out."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.delivery import message_format
from app.notifications.models import Channel, Delivery
from tests.notifications.deliveries import words_of
from tests.pengingat.stock import answer, left, make

#: The notice about two tablets: half of one for this evening, and one and a half for Tuesday.
SENTENCE = "Halo Siti, Metformin Anda kira-kira habis Selasa, 3 Maret. Yuk, siapkan lagi sebelum habis."


def notices():
    """Return the due times of the stock notices, as `dd HH:MM` in UTC."""
    rows = sa.select(Delivery.due_at).filter_by(kind="stock", channel="messaging", state="pending")
    return [f"{due_at:%d %H:%M}" for due_at in db.session.scalars(rows.order_by(Delivery.due_at))]


def said(channel="messaging"):
    """Return what the notices would say now. A notice that says nothing is left out."""
    rows = sa.select(Delivery).filter_by(kind="stock", channel=channel, state="pending").order_by(Delivery.id)
    return [words for row in db.session.scalars(rows) if (words := words_of(row))]


@pytest.mark.parametrize(
    ("sisa", "details", "day"),
    [
        (2, {}, "Selasa, 3 Maret"),
        (0, {}, "Senin, 2 Maret"),
        (0.5 + 7 * 1.5, {}, "Senin, 9 Maret"),  # enough for 7 days, the default border
        (0.5 + 7 * 1.5 + 1, {}, None),
        (2.5, {"persediaan": {"ingatkan_hari": 1}}, "Selasa, 3 Maret"),
        (3, {"persediaan": {"ingatkan_hari": 1}}, None),
        (3, {"selesai": "2026-03-04"}, "Rabu, 4 Maret"),
        (3.5, {"selesai": "2026-03-04"}, None),  # enough for the whole course
        (100, {"selesai": "2026-02-01"}, None),
    ],
)
def test_a_notice_leaves_if_the_stock_is_enough_for_few_days(siti, moment, obat, sisa, details, day):
    make(siti, obat, sisa, **details)
    assert notices() == (["02 02:00"] if day else [])  # the next 09:00 in Jakarta
    assert [words["text"] for words in said()] == (
        [f"Halo Siti, Metformin Anda kira-kira habis {day}. Yuk, siapkan lagi sebelum habis."] if day else []
    )


def test_the_estimate_includes_the_temporary_schedule(siti, moment, obat):
    other = [{"jam": "11:00", "jumlah": 3, "satuan": "tablet"}, {"jam": "21:00", "jumlah": 3, "satuan": "tablet"}]
    temporary = {"mulai": "2026-03-03", "selesai": "2026-03-03", "jadwal": other}
    make(siti, obat, 8, jadwal_sementara=temporary)  # the doses need 0.5 tablets today, 6 on the 3rd and 1.5 on the 4th
    assert "Rabu, 4 Maret" in said()[0]["text"]


def test_the_notice_leaves_at_nine_in_the_time_zone_of_the_reminder(siti, moment, obat):
    make(siti, {**obat, "timezone": "Asia/Jayapura"}, 1)  # it is already 10:00 in Jayapura
    make(siti, obat, 1)
    assert notices() == ["02 02:00", "03 00:00"]


def test_the_dose_that_reaches_the_border_creates_the_only_notice(siti, moment, obat):
    path = make(siti, obat, 5, persediaan={"ingatkan_hari": 2})  # enough until Thursday
    assert notices() == []
    moment.move(hours=11, minutes=30)
    answer(siti, path, "done")  # before its time: the dose is not needed again
    assert notices() == []
    moment.move(hours=12)
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert notices() == ["03 02:00"]
    moment.move(hours=12, minutes=45)
    answer(siti, path, "done", "2026-03-03T12:00:00Z")
    assert (notices(), left(siti, path)) == (["03 02:00"], 3)


def test_a_notice_that_is_no_longer_true_says_nothing_and_the_next_fall_is_told_again(siti, moment, obat):
    path = make(siti, obat, 2)
    assert [words["text"] for words in said()] == [SENTENCE]
    siti.post(f"{path}/persediaan", {"tambah": 6})  # less than 7 days ahead: the notice is still true
    assert "Sabtu, 7 Maret" in said()[0]["text"]
    siti.post(f"{path}/persediaan", {"tambah": 100})
    assert said() == []
    moment.move(days=1)
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 3}}})
    assert notices() == ["02 02:00", "03 02:00"]
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 2}}})
    assert notices() == ["02 02:00", "03 02:00"]


def test_taking_an_answer_back_makes_the_notice_untrue(siti, moment, obat):
    path = make(siti, obat, 3.5, persediaan={"ingatkan_hari": 1})
    moment.move(hours=24)
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert len(said()) == 1
    answer(siti, path, "undo", "2026-03-03T00:00:00Z")
    assert said() == []


def test_a_deleted_reminder_or_another_type_says_nothing(siti, moment, obat):
    first, second = make(siti, obat, 1), make(siti, obat, 1)
    assert len(said()) == 2
    siti.delete(first)
    siti.put(second, {"tipe": "makan", "details": {"sarapan": {"jam": "23:00"}, "persediaan": {"sisa": 1}}})
    assert said() == []


def test_the_notice_is_a_message_with_a_name_and_a_push(siti, moment, obat):
    make(siti, obat, 2)
    assert message_format.parts_of(said()[0])["name"] == "Siti"
    (push,) = said("push_fan_out")
    assert push == {
        "title": "Persediaan obat",
        "body": "Metformin Anda kira-kira habis Selasa, 3 Maret. Yuk, siapkan lagi sebelum habis.",
    }
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="push_fan_out")).one()
    row.channel = Channel.PUSH  # a push to one browser has the same text
    assert words_of(row) == push
