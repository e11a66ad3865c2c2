"""Fields and filters of the list of reminders: `next_at`, `waktu`, the day and `is_done`."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.pengingat.ledger import queries
from app.pengingat.models import Pengingat
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of
from tests.pengingat.ledgers import NOW, Time

SENIN = {"jenis_terapi": "Fisioterapi", "jadwal": [{"hari": "senin", "jam": "02:00"}]}
SARAPAN = {"sarapan": {"jam": "23:00", "karbohidrat": "nasi"}}
VISIT = {"nama_dokter": "dr. Ani", "datetime": "2026-03-10T02:00:00Z"}


def make(siti: Client, tipe: str, details: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = siti.post("/pengingat/", {"tipe": tipe, "judul": "Judul", "details": details, **fields})
    assert answer.status_code == 201, answer.json
    record: dict[str, Any] = answer.json
    return record


# --- `next_at` ------------------------------------------------------------------------------------------------------


def test_next_at_is_the_next_due_time_or_null_after_a_past_visit(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    expected = {
        siti.post("/pengingat/obat", obat).json["id"]: "2026-03-02T12:00:00Z",
        make(siti, "makan", SARAPAN)["id"]: "2026-03-02T23:00:00Z",
        make(siti, "terapi", SENIN)["id"]: "2026-03-02T02:00:00Z",
        make(siti, "terapi", {}, waktu="2026-03-05T02:00:00Z")["id"]: "2026-03-05T02:00:00Z",
        make(siti, "kontrol", {**VISIT, "offsets": [{"offset": "1d"}]})["id"]: "2026-03-10T02:00:00Z",
        make(siti, "kontrol", {}, waktu="2026-03-01T02:00:00Z")["id"]: None,
    }
    assert {row["id"]: row["next_at"] for row in siti.get("/pengingat/").json} == expected
    assert {number: siti.get(f"/pengingat/{number}").json["next_at"] for number in expected} == expected


def test_next_at_skips_a_done_occurrence(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    medicine = siti.post("/pengingat/obat", obat).json
    visit = make(siti, "kontrol", VISIT)
    for record in (medicine, visit):
        siti.put(f"/pengingat/{record['id']}", {"is_done": True})
    assert siti.get(f"/pengingat/{medicine['id']}").json["next_at"] == "2026-03-03T00:00:00Z"
    assert siti.get(f"/pengingat/{visit['id']}").json["next_at"] is None


# --- the service computes `waktu` from `details` --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tipe", "details", "waktu"),
    [
        ("makan", SARAPAN, "2026-03-02T23:00:00Z"),
        ("terapi", SENIN, "2026-03-02T02:00:00Z"),
        ("kontrol", VISIT, "2026-03-10T02:00:00Z"),
    ],
)
def test_waktu_is_optional_if_the_details_contain_a_time(
    siti: Client, moment: Time, tipe: str, details: dict[str, Any], waktu: str
) -> None:
    assert make(siti, tipe, details)["waktu"] == waktu


@pytest.mark.parametrize(
    ("tipe", "details"),
    [("makan", {"sarapan": {"protein": "telur"}}), ("terapi", {"jadwal": []}), ("kontrol", {"datetime": None})],
)
def test_waktu_is_required_if_the_details_contain_no_time(siti: Client, tipe: str, details: dict[str, Any]) -> None:
    sent = {"tipe": tipe, "judul": "J", "details": details}
    assert_error(siti.post("/pengingat/", sent), 400, field="waktu")


def test_a_waktu_derived_from_the_details_changes_with_them(siti: Client, moment: Time) -> None:
    path = f"/pengingat/{make(siti, 'kontrol', VISIT)['id']}"
    moved = siti.put(path, {"details": {**VISIT, "datetime": "2026-03-12T02:00:00Z"}}).json
    assert moved["waktu"] == moved["next_at"] == "2026-03-12T02:00:00Z"
    without = siti.put(path, {"details": {}}).json
    assert without["waktu"] == "2026-03-12T02:00:00Z"


def test_a_waktu_that_was_sent_stays(siti: Client, moment: Time) -> None:
    path = f"/pengingat/{make(siti, 'kontrol', VISIT, waktu='2026-03-09T05:00:00Z')['id']}"
    moved = siti.put(path, {"details": {**VISIT, "datetime": "2026-03-12T02:00:00Z"}}).json
    assert moved["waktu"] == "2026-03-09T05:00:00Z"


# --- an appointment in the past -------------------------------------------------------------------------------------


def test_a_visit_in_the_past_is_kept_with_a_warning(siti: Client, moment: Time) -> None:
    for when in ({"details": {**VISIT, "datetime": "2026-03-01T02:00:00Z"}}, {"details": {}, "waktu": NOW.isoformat()}):
        answer = siti.post("/pengingat/", {"tipe": "kontrol", "judul": "K", **when})
        assert answer.status_code == 201
        assert "sudah lewat" in answer.json["warning"]
        assert "warning" not in siti.get(f"/pengingat/{answer.json['id']}").json


def test_a_visit_to_come_has_no_warning(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    assert "warning" not in make(siti, "kontrol", VISIT)
    assert "warning" not in siti.post("/pengingat/obat", obat).json


# --- the list -------------------------------------------------------------------------------------------------------


def listed(siti: Client, query: str) -> list[int]:
    return sorted(row["id"] for row in siti.get(f"/pengingat/?{query}").json)


def test_the_list_can_be_filtered_by_is_done(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    first, second = (siti.post("/pengingat/obat", obat).json["id"] for _ in range(2))
    siti.put(f"/pengingat/{first}", {"is_done": True})
    assert listed(siti, "is_done=true") == [first]
    assert listed(siti, "is_done=false") == [second]
    moment.move(hours=30)
    assert listed(siti, "is_done=true") == []
    assert listed(siti, "is_done=false&tipe=obat") == [first, second]
    assert_error(siti.get("/pengingat/?is_done=belum"), 400, field="is_done")


def test_the_list_can_be_filtered_by_date(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    medicine = siti.post("/pengingat/obat", obat).json["id"]
    monday = make(siti, "terapi", SENIN)["id"]
    visit = make(siti, "kontrol", VISIT)["id"]
    past = make(siti, "kontrol", {**VISIT, "datetime": "2026-02-23T02:00:00Z"})["id"]
    make(siti.as_(make_user()), "terapi", SENIN)
    assert listed(siti, "date=2026-03-02") == [medicine, monday]
    assert listed(siti, "date=2026-03-03") == [medicine]
    assert listed(siti, "date=2026-03-10") == [medicine, visit]
    assert listed(siti, "date=2027-03-01&tipe=terapi") == [monday]
    assert listed(siti, "date=2026-02-23") == [past]  # the other reminders begin later
    assert siti.get("/pengingat/?date=2026-03-02&per_page=1").headers["X-Total-Count"] == "2"
    for wrong in ("besok", "2026-02-30", "20260302", "2026-W10-1", "0001-01-01", "9999-12-31"):
        assert_error(siti.get(f"/pengingat/?date={wrong}"), 400, field="date")


def test_the_date_filter_uses_the_time_zone_of_each_reminder(siti: Client, moment: Time) -> None:
    evening = {**VISIT, "datetime": "2026-03-10T16:00:00Z"}  # 23:00 in Jakarta, 01:00 of the next day in Jayapura
    west = make(siti, "kontrol", evening, timezone="Asia/Jakarta")["id"]
    east = make(siti, "kontrol", evening, timezone="Asia/Jayapura")["id"]
    assert listed(siti, "date=2026-03-10") == [west]
    assert listed(siti, "date=2026-03-11") == [east]
    sunday_evening = {"jadwal": [{"hari": "senin", "jam": "16:00"}]}
    weekly = make(siti, "terapi", sunday_evening, timezone="Asia/Jayapura")["id"]
    assert weekly in listed(siti, "date=2026-03-16")


def test_the_date_filter_returns_an_empty_list_without_reminders(siti: Client) -> None:
    assert listed(siti, "date=2026-03-02") == []


def test_filtered_lists_need_at_most_two_statements(
    siti: Client, moment: Time, obat: dict[str, Any], statements: Any
) -> None:
    for _ in range(5):
        siti.post("/pengingat/obat", obat)
    with statements.at_most(2):  # one statement each for session and reminders
        siti.get("/pengingat/?is_done=false&tipe=obat")
    with statements.at_most(2):
        siti.get("/pengingat/?date=2026-03-02")


def test_a_filtered_list_uses_the_index_of_the_persons_reminders(committed: Flask, moment: Time) -> None:
    with unit_of_work():
        people = [make_user().id for _ in range(2)]
        fill = """
            INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, plan, active_from, planned_until)
            SELECT :other, 'terapi', 'x', now(), 'Asia/Jakarta', '{}', '{"slots": []}', now(), now()
            FROM generate_series(1, 20000)
        """
        db.session.execute(sa.text(fill), {"other": people[0]})
        db.session.execute(sa.text(fill.replace("20000", "20")), {"other": people[1]})
    analyse("reminders")
    with unit_of_work():
        mine = people[1]
        rows = sa.select(Pengingat).where(Pengingat.user_id == mine).order_by(Pengingat.id.desc()).limit(20)
        plan = plan_of(rows.where(queries.is_done(done=False, now=NOW)))
        assert "Seq Scan" not in plan, plan
        assert "ix_reminders_user_id" in plan, plan
