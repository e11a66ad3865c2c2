"""A person's history and how they kept to their reminders."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from app.core.database.session import db
from app.pengingat import jobs
from app.pengingat.models import OccurrenceDay
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.statements import Statements
from tests.pengingat.ledgers import NOW, Time, past


def rows(client: Client, query: str = "", path: str = "/pengingat/riwayat") -> list[tuple[str, str]]:
    return [(row["due_at"][5:16], row["state"]) for row in client.get(path + query).json]


def test_the_history_holds_what_has_fallen_due_newest_first(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    assert rows(siti) == []
    moment.move(hours=24)
    jobs.miss_overdue()
    siti.post(f"/pengingat/{created['id']}/konfirmasi", {"status": "done", "due_at": "2026-03-03T00:00:00Z"})
    expected = [("03-03T00:00", "done"), ("03-02T12:00", "missed")]
    assert rows(siti) == rows(siti, path=f"/pengingat/{created['id']}/riwayat") == expected
    assert set(siti.get("/pengingat/riwayat").json[0]) == {
        "id", "pengingat_id", "tipe", "judul", "slot", "due_at", "state", "late", "answered_at", "answered_via",
        "snoozed_until", "undelivered",
    }  # fmt: skip


def test_a_deleted_reminder_stays_in_the_history(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=13)
    jobs.miss_overdue()
    siti.delete(f"/pengingat/{created['id']}")
    (row,) = siti.get("/pengingat/riwayat").json
    assert (row["pengingat_id"], row["judul"], row["state"]) == (None, "Obat diabetes", "missed")
    assert_error(siti.get(f"/pengingat/{created['id']}/riwayat"), 404)


def test_what_was_edited_away_is_left_out_unless_asked_for(siti: Client, siti_id: int, moment: Time) -> None:
    past(siti_id, 20, "void")
    past(siti_id, 21, "done")
    assert rows(siti) == [("02-21T12:00", "done")]
    assert rows(siti, "?state=void") == [("02-20T12:00", "void")]


def test_the_history_is_narrowed_and_paged(siti: Client, siti_id: int, moment: Time) -> None:
    past(siti_id, 19, "done", tipe="makan")
    for day in (20, 21, 22):
        past(siti_id, day, "missed" if day == 21 else "done")
    assert rows(siti, "?tipe=obat&state=done") == [("02-22T12:00", "done"), ("02-20T12:00", "done")]
    assert rows(siti, "?start=2026-02-20&end=2026-02-21") == [("02-21T12:00", "missed"), ("02-20T12:00", "done")]
    page = siti.get("/pengingat/riwayat?page=2&per_page=3")
    assert [row["tipe"] for row in page.json] == ["makan"]
    assert page.headers["X-Total-Count"] == "4"


def test_the_history_begins_thirty_days_ago(siti: Client, siti_id: int, moment: Time) -> None:
    past(siti_id, 1, "done")  # 2 March and the 29 days before begin with 1 February
    past(siti_id, 31, "done", month=1)
    assert rows(siti) == [("02-01T12:00", "done")]
    assert len(rows(siti, "?end=2026-02-01")) == 2


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Asia/Jakarta", "2026-03-02"), ("Pacific/Kiritimati", "2026-03-03"), ("Pacific/Pago_Pago", "2026-03-02")],
)
def test_days_are_those_of_the_reminders_zone(
    siti: Client, moment: Time, obat: dict[str, Any], zone: str, day: str
) -> None:
    siti.post("/pengingat/obat", {**obat, "timezone": zone})
    moment.move(hours=11)
    assert rows(siti, f"?start={day}&end={day}") == [("03-02T12:00", "pending")]
    answer = siti.get(f"/pengingat/kepatuhan?start={day}&end={day}").json
    assert [row["due"] for row in answer["days"]] == [1]
    other = f"{date.fromisoformat(day) + timedelta(days=1)}"
    assert rows(siti, f"?start={other}&end={other}") == []


def test_the_sums(siti: Client, siti_id: int, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    for state, undelivered in [
        ("done", False),
        ("done", True),
        ("skipped", False),
        ("missed", False),
        ("missed", True),
    ]:
        past(siti_id, 20, state, undelivered=undelivered, reminder_id=created["id"], slot=f"{state}{undelivered}")
    past(siti_id, 21, "pending", reminder_id=created["id"])
    past(siti_id, 21, "void", slot="1", reminder_id=created["id"])
    past(siti_id, 22, "done", judul="Yang lama")
    moment.now = NOW.replace(day=1)
    answer = siti.get("/pengingat/kepatuhan?start=2026-02-20&end=2026-02-22").json
    counts = {"due": 5, "done": 2, "skipped": 1, "missed": 1, "undelivered": 1}
    waiting = {"due": 1, "done": 0, "skipped": 0, "missed": 0, "undelivered": 0}
    done = {"due": 1, "done": 1, "skipped": 0, "missed": 0, "undelivered": 0}
    assert answer == {
        "start": "2026-02-20",
        "end": "2026-02-22",
        "percent": 60.0,  # three of five: what waits and what we did not get out is not divided by
        **{name: counts[name] + waiting[name] + done[name] for name in counts},
        "days": [
            {"date": "2026-02-20", **counts},
            {"date": "2026-02-21", **waiting},
            {"date": "2026-02-22", **done},
        ],
        "reminders": [
            {"id": created["id"], "judul": "Obat diabetes", "tipe": "obat",
             **{name: counts[name] + waiting[name] for name in counts}},
            {"id": None, "judul": "Yang lama", "tipe": "obat", **done},
        ],
    }  # fmt: skip


def test_nothing_to_divide_is_no_percentage(siti: Client, siti_id: int, moment: Time) -> None:
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["due"], answer["reminders"]) == (None, 0, [])
    assert (answer["start"], answer["end"], len(answer["days"])) == ("2026-02-01", "2026-03-02", 30)
    past(siti_id, 20, "missed", undelivered=True)
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["undelivered"]) == (None, 1)


def test_the_sums_of_days_long_past_are_kept(siti: Client, siti_id: int, moment: Time) -> None:
    day = date(2024, 6, 1)
    sums = {"due": 3, "done": 2, "skipped": 0, "missed": 1, "undelivered": 0}
    for judul in ("Metformin", "Amlodipin"):
        db.session.add(OccurrenceDay(user_id=siti_id, day=day, tipe="obat", judul=judul, **sums))
    answer = siti.get("/pengingat/kepatuhan?start=2024-06-01&end=2024-06-02").json
    assert (answer["percent"], answer["due"], answer["done"]) == (66.7, 6, 4)
    assert [row["due"] for row in answer["days"]] == [6, 0]
    assert [row["judul"] for row in answer["reminders"]] == ["Amlodipin", "Metformin"]


@pytest.mark.parametrize("path", ["/pengingat/riwayat", "/pengingat/kepatuhan"])
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("start=2026-03-02&end=2026-03-01", "start"),
        ("start=2026-01-01&end=2026-04-03", "end"),  # 93 days
        ("start=2025-01-01", "start"),
        ("start=kemarin", "start"),
        ("end=2026-13-01", "end"),
        ("start=20260301", "start"),
    ],
)
def test_wrong_days_are_refused(siti: Client, moment: Time, path: str, query: str, field: str) -> None:
    assert_error(siti.get(f"{path}?{query}"), 400, field=field)


@pytest.mark.parametrize(("query", "field"), [("tipe=tidur", "tipe"), ("state=late", "state"), ("page=0", "page")])
def test_wrong_filters_are_refused(siti: Client, query: str, field: str) -> None:
    assert_error(siti.get(f"/pengingat/riwayat?{query}"), 400, field=field)


def test_92_days_are_not_too_many(siti: Client, moment: Time) -> None:
    answer = siti.get("/pengingat/kepatuhan?start=2026-01-01&end=2026-04-02")
    assert len(answer.json["days"]) == 92


def test_nobody_sees_somebody_elses_history(siti: Client, client: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=13)
    stranger = siti.as_(make_user())
    assert rows(stranger) == []
    assert stranger.get("/pengingat/kepatuhan").json["due"] == 0
    assert_error(stranger.get(f"/pengingat/{created['id']}/riwayat"), 404)
    for path in ("/pengingat/riwayat", f"/pengingat/{created['id']}/riwayat", "/pengingat/kepatuhan"):
        assert_error(client.get(path), 401)


def test_reads_cost_a_fixed_number_of_statements(
    siti: Client, siti_id: int, moment: Time, obat: dict[str, Any], statements: Statements
) -> None:
    created = siti.post("/pengingat/obat", obat).json
    for day in range(1, 25):
        past(siti_id, day, "done", reminder_id=created["id"])
    with statements.at_most(3):  # the session, the zone, the rows
        siti.get("/pengingat/riwayat")
    with statements.at_most(4):  # and the reminder itself
        siti.get(f"/pengingat/{created['id']}/riwayat")
    with statements.at_most(3):  # the session, the reminders, the sums
        siti.get("/pengingat/kepatuhan")


def test_what_fell_due_where_the_next_day_has_begun_is_there(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    """00:10 in Jayapura is 22:10 of the day before in Jakarta, where the newest reminder is."""
    details = {**obat["details"], "jadwal": [{**obat["details"]["jadwal"][0], "jam": "15:10"}], "frekuensi": 1}
    eastern = siti.post("/pengingat/obat", {**obat, "timezone": "Asia/Jayapura", "details": details}).json["id"]
    siti.post("/pengingat/obat", {**obat, "timezone": "Asia/Jakarta"})
    moment.move(hours=14, minutes=30)
    for path in ("/pengingat/riwayat", f"/pengingat/{eastern}/riwayat"):
        assert rows(siti, path=path)[0][0] == "03-02T15:10"
    assert siti.get("/pengingat/kepatuhan").json["end"] == "2026-03-03"
