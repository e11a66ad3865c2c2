"""What is left of a medicine: taken by answers, once each, and told of before it runs out."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.delivery import forms
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.jobs import tell_of_stock
from app.pengingat.models import Occurrence, Pengingat
from tests.client import Client, assert_error
from tests.factories import make_user
from tests.pengingat.conftest import Time, ledger

#: NOW is Monday, 2 March 2026, 08:00 in Jakarta; the doses are 1 at 07:00 and 0.5 at 19:00 there.


def make(siti: Client, obat: dict[str, Any], sisa: float, **details: Any) -> str:
    """The path of a new medicine with so much left."""
    stock = {"sisa": sisa, **details.pop("persediaan", {})}
    answer = siti.post("/pengingat/obat", {**obat, "details": {**obat["details"], "persediaan": stock, **details}})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def left(siti: Client, path: str) -> float:
    sisa: float = siti.get(path).json["details"]["persediaan"]["sisa"]
    return sisa


def answer(siti: Client, path: str, status: str, due_at: str = "2026-03-02T12:00:00Z") -> None:
    given = siti.post(f"{path}/konfirmasi", {"status": status, "due_at": due_at})
    assert given.status_code == 200, given.json


def told(channel: str = "messaging") -> list[str]:
    """What was said of stocks, in order."""
    key = "text" if channel == "messaging" else "body"
    rows = sa.select(Delivery.payload[key].astext).filter_by(kind="stock", channel=channel).order_by(Delivery.id)
    return list(db.session.scalars(rows.where(Delivery.state != "cancelled")))


def each_morning(moment: Time, days: int) -> list[tuple[str, str]]:
    """(day, text) of what is said on these days, looked at every few hours and each dose done when it falls due."""
    found = []
    for _ in range(days * 4):
        moment.move(hours=6)
        before = len(told())
        tell_of_stock()
        found += [(f"{moment.now:%d}", text) for text in told()[before:]]
    return found


# --- what answers take ----------------------------------------------------------------------------------------------


def test_a_dose_that_is_done_goes_out_of_the_stock_once(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    for _ in range(3):
        answer(siti, path, "done")
    assert left(siti, path) == 9.5
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 8.5


def test_a_dose_that_is_not_done_after_all_comes_back(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    for status, sisa in (("done", 9.5), ("skipped", 10), ("skipped", 10), ("done", 9.5), ("skipped", 10)):
        answer(siti, path, status)
        assert left(siti, path) == sisa


def test_is_done_takes_and_gives_back_like_an_answer(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    moment.move(hours=11, minutes=5)
    for is_done, sisa in ((True, 9.5), (True, 9.5), (False, 10), (False, 10), (True, 9.5)):
        assert siti.put(path, {"is_done": is_done}).json["details"]["persediaan"]["sisa"] == sisa
    answer(siti, path, "done")
    assert left(siti, path) == 9.5


def test_a_missed_dose_takes_nothing_until_it_is_done(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    moment.move(hours=13)
    jobs.miss_overdue()
    assert left(siti, path) == 10
    answer(siti, path, "done")
    assert left(siti, path) == 9.5


def test_a_dose_of_a_temporary_schedule_takes_its_own_amount(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    other = [{"jam": "11:00", "jumlah": 3, "satuan": "tablet"}, {"jam": "21:00", "jumlah": 1, "satuan": "tablet"}]
    temporary = {"mulai": "2026-03-02", "selesai": "2026-03-02", "jadwal": other}
    path = make(siti, obat, 10, jadwal_sementara=temporary)
    answer(siti, path, "done", "2026-03-02T11:00:00Z")
    assert left(siti, path) == 7
    answer(siti, path, "done", "2026-03-03T12:00:00Z")
    assert left(siti, path) == 6.5


def test_an_empty_stock_stays_at_0_and_holds_up_no_reminder(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 0.25)
    answer(siti, path, "done")
    assert left(siti, path) == 0
    answer(siti, path, "done", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 0
    answer(siti, path, "skipped", "2026-03-03T00:00:00Z")
    assert left(siti, path) == 0
    answer(siti, path, "skipped")
    assert left(siti, path) == 0.25
    assert ledger()[-1] == "03 12:00 1 pending"


def test_tenths_add_up(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    obat["details"]["jadwal"][1]["jumlah"] = 0.1
    path = make(siti, obat, 0.3)
    for _ in range(3):
        answer(siti, path, "done")
        answer(siti, path, "skipped")
    answer(siti, path, "done")
    assert left(siti, path) == 0.2


def test_a_dose_that_was_edited_away_takes_nothing(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    moment.move(hours=12)
    answer(siti, path, "skipped")
    one = {**obat["details"], "frekuensi": 1, "jadwal": obat["details"]["jadwal"][:1], "persediaan": {"sisa": 10}}
    assert siti.put(path, {"details": one}).status_code == 200
    answer(siti, path, "done")
    assert left(siti, path) == 10


def test_the_last_dose_of_a_course_takes_too_however_late_it_is_answered(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    path = make(siti, obat, 10, selesai="2026-03-02")
    moment.move(days=3)
    tell_of_stock()
    jobs.miss_overdue()
    answer(siti, path, "done")
    assert left(siti, path) == 9.5
    answer(siti, path, "skipped")
    assert left(siti, path) == 10


def test_without_a_stock_nothing_is_counted(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    answer(siti, path, "done")
    assert "persediaan" not in siti.get(path).json["details"]
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 5}}})
    answer(siti, path, "skipped")  # it took nothing, so nothing comes back
    assert left(siti, path) == 5


def test_a_stock_of_what_is_no_medicine_is_nobodys_business(siti: Client, moment: Time) -> None:
    details = {"sarapan": {"jam": "12:00"}, "persediaan": {"sisa": 5}}
    record = siti.post("/pengingat", {"tipe": "makan", "judul": "M", "details": details}).json
    path = f"/pengingat/{record['id']}"
    answer(siti, path, "done")
    assert siti.get(path).json["details"] == details
    assert_error(siti.post(f"{path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")


def test_what_was_kept_as_persediaan_before_is_left_alone(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    with unit_of_work():
        user_id = make_user().id
        kept: Any = {"tipe": "obat", "timezone": "Asia/Jakarta", **obat}
        pengingat_id = service.create(user_id, kept).id
        db.session.execute(sa.update(Pengingat).values(details={**obat["details"], "persediaan": "banyak"}))
    with unit_of_work():
        service.update(user_id, pengingat_id, {"is_done": True})
    assert db.session.scalars(sa.select(Pengingat.details["persediaan"].astext)).one() == "banyak"


# --- what the person sets and adds ----------------------------------------------------------------------------------


def test_what_was_bought_is_added(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    record = siti.post(f"{path}/persediaan", {"tambah": 30.5})
    assert record.status_code == 200
    assert record.json == siti.get(path).json
    assert record.json["details"]["persediaan"] == {"sisa": 40.5, "ingatkan_hari": 7}


def test_details_set_the_stock(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    answer(siti, path, "done")
    details = siti.get(path).json["details"]
    assert siti.put(path, {"details": {**details, "persediaan": {"sisa": 24}}}).status_code == 200
    assert left(siti, path) == 24
    answer(siti, path, "skipped")
    assert left(siti, path) == 24.5
    assert siti.put(path, {"details": obat["details"]}).status_code == 200
    assert "persediaan" not in siti.get(path).json["details"]


@pytest.mark.parametrize("tambah", [0, -1, None, "banyak", 100_001, [], {}])
def test_an_addition_that_is_none_is_refused(siti: Client, moment: Time, obat: dict[str, Any], tambah: object) -> None:
    path = make(siti, obat, 10)
    assert_error(siti.post(f"{path}/persediaan", {"tambah": tambah}), 400, field="tambah")
    assert left(siti, path) == 10


def test_an_addition_beyond_what_is_kept_is_refused(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 999_999)
    assert_error(siti.post(f"{path}/persediaan", {"tambah": 2}), 400, field="tambah")


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
def test_a_stock_that_makes_no_sense_is_refused(
    siti: Client, obat: dict[str, Any], persediaan: object, field: str
) -> None:
    sent = {**obat, "details": {**obat["details"], "persediaan": persediaan}}
    assert_error(siti.post("/pengingat/obat", sent), 400, field=field)


def test_nobody_adds_to_a_strangers_stock(siti: Client, client: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    assert_error(siti.as_(make_user()).post(f"{path}/persediaan", {"tambah": 1}), 404)
    assert_error(client.post(f"{path}/persediaan", {"tambah": 1}), 401)
    assert_error(siti.post("/pengingat/999999999/persediaan", {"tambah": 1}), 404)


def test_nothing_is_added_to_what_nobody_counts(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    assert_error(siti.post(f"{path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")


# --- what is said of it ---------------------------------------------------------------------------------------------


def test_the_person_is_told_at_their_border_and_two_days_before(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    # Each day takes 1.5, from this evening's 0.5 on: 4 days and the next morning, Saturday the 7th.
    path = make(siti, obat, 0.5 + 4 * 1.5 + 1, persediaan={"ingatkan_hari": 3})
    said = []
    for _ in range(7):
        moment.now = moment.now.replace(hour=2)  # 09:00
        tell_of_stock()
        said.append((f"{moment.now:%d}", told()))
        for due_at in ("12:00", "00:00"):
            moment.move(hours=12 if due_at == "00:00" else 10)
            jobs.top_up()
            answer(siti, path, "done", f"{moment.now:%Y-%m-%d}T{due_at}:00Z")
    sentence = "Halo Siti, Metformin diperkirakan habis Sabtu, 7 Maret 2026."
    assert [(day, len(texts)) for day, texts in said] == [
        ("02", 0), ("03", 0), ("04", 1), ("05", 2), ("06", 2), ("07", 2), ("08", 2),
    ]  # fmt: skip
    assert said[-1][1] == [sentence, sentence]
    assert left(siti, path) == 0


def test_a_push_tells_it_too(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    tell_of_stock()
    assert told("push_fan_out") == ["Metformin diperkirakan habis Senin, 2 Maret 2026."]


def test_a_template_can_say_it_too(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    tell_of_stock()
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="messaging")).one()
    name = forms.parts_of(row.payload)["name"]
    assert (name, str(row.payload["text"]).startswith(f"Halo {name}, ")) == ("Siti", True)


def test_it_is_told_at_nine_in_the_reminders_own_zone(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, {**obat, "timezone": "Asia/Jayapura"}, 1)  # 10:00 there
    make(siti, obat, 1)
    assert [day for day, _ in each_morning(moment, 1)] == ["02", "03"]
    assert db.session.scalars(sa.select(Pengingat.stock_check_at).order_by(Pengingat.id)).all() == [
        moment.now.replace(hour=0, day=4),
        moment.now.replace(hour=2),
    ]


def test_both_borders_at_once_are_one_message(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 1)
    assert len(each_morning(moment, 5)) == 1


def test_a_stock_that_lasts_for_the_course_is_not_told_of(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 3.5, selesai="2026-03-04")  # 0.5 + 1.5 + 1.5
    make(siti, obat, 3, selesai="2026-03-04")
    texts = [text for _, text in each_morning(moment, 1)]
    assert texts == ["Halo Siti, Metformin diperkirakan habis Rabu, 4 Maret 2026."]


def test_the_estimate_knows_the_temporary_schedule(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    other = [{"jam": "11:00", "jumlah": 3, "satuan": "tablet"}, {"jam": "21:00", "jumlah": 3, "satuan": "tablet"}]
    temporary = {"mulai": "2026-03-03", "selesai": "2026-03-03", "jadwal": other}
    make(siti, obat, 8, jadwal_sementara=temporary)  # 0.5, then 6, then 1 and 0.5 on the 4th
    assert [text for _, text in each_morning(moment, 1)] == [
        "Halo Siti, Metformin diperkirakan habis Rabu, 4 Maret 2026."
    ]


def test_who_bought_more_is_told_again_when_that_runs_out(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 3)
    moment.move(hours=1)
    tell_of_stock()
    assert len(told()) == 1
    siti.post(f"{path}/persediaan", {"tambah": 100})
    assert told() == []  # it had not left yet, and is not true any more
    assert each_morning(moment, 3) == []
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 3}}})
    assert len(each_morning(moment, 2)) == 1


def test_who_bought_too_little_is_not_told_the_same_again(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 1)
    moment.move(hours=1)
    tell_of_stock()
    siti.post(f"{path}/persediaan", {"tambah": 6})  # enough until Friday, and within the border of 7 days
    assert each_morning(moment, 1) == []


def test_what_could_not_be_told_in_the_morning_is_not_told_at_night(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 1)
    moment.move(hours=13, minutes=30)  # 21.30
    tell_of_stock()
    assert told() == []
    moment.move(hours=12)
    tell_of_stock()
    assert len(told()) == 1


def test_a_deleted_reminder_takes_its_message_along(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 1)
    moment.move(hours=1)
    tell_of_stock()
    siti.delete(path)
    assert told() == []


def test_looking_again_costs_one_statement_when_there_is_nothing_to_look_at(
    siti: Client, moment: Time, obat: dict[str, Any], statements: Any
) -> None:
    make(siti, obat, 100)
    with statements.at_most(2):
        assert jobs.tell_page() == 0


def test_a_clock_that_dies_in_the_middle_tells_it_once(
    siti: Client, moment: Time, obat: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "add_all", mock.Mock(side_effect=ProcessLookupError))
        with pytest.raises(ProcessLookupError):
            tell_of_stock()
    assert told() == []
    for _ in range(2):
        tell_of_stock()
    assert len(told()) == 1


def test_the_ledger_says_what_a_dose_took(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    answer(siti, path, "done")
    assert db.session.scalars(sa.select(Occurrence.taken).filter_by(slot="1", state="done")).one() == 0.5
