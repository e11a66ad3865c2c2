"""Routes that list a person's reminders of the past, and that count the answered and the missed reminders."""

from datetime import date, timedelta

import pytest

from tests.pengingat.histories import rows
from tests.pengingat.ledgers import past


def test_void_occurrences_are_listed_only_with_the_state_filter(siti, siti_id, moment):
    past(siti_id, 20, "void")
    past(siti_id, 21, "done")
    assert rows(siti) == [("02-21T12:00", "done")]
    assert rows(siti, "?state=void") == [("02-20T12:00", "void")]


def test_the_history_begins_thirty_days_ago(siti, siti_id, moment):
    past(siti_id, 1, "done")  # 30 days that end on 2 March begin on 1 February
    past(siti_id, 31, "done", month=1)
    assert rows(siti) == [("02-01T12:00", "done")]
    assert len(rows(siti, "?end=2026-02-01")) == 2


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Asia/Jakarta", "2026-03-02"), ("Pacific/Kiritimati", "2026-03-03"), ("Pacific/Pago_Pago", "2026-03-02")],
)
def test_days_follow_the_time_zone_of_the_reminder(siti, moment, obat, zone, day):
    siti.post("/pengingat/obat", {**obat, "timezone": zone})
    moment.move(hours=11)
    assert rows(siti, f"?start={day}&end={day}") == [("03-02T12:00", "pending")]
    answer = siti.get(f"/pengingat/kepatuhan?start={day}&end={day}").json
    assert [row["due"] for row in answer["days"]] == [1]
    other = f"{date.fromisoformat(day) + timedelta(days=1)}"
    assert rows(siti, f"?start={other}&end={other}") == []


def test_the_percentage_is_null_without_delivered_occurrences(siti, siti_id, moment):
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["due"], answer["reminders"]) == (None, 0, [])
    assert (answer["start"], answer["end"], len(answer["days"])) == ("2026-02-01", "2026-03-02", 30)
    past(siti_id, 20, "missed", undelivered=True)
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["undelivered"]) == (None, 1)


def test_history_and_adherence_reads_need_a_bounded_number_of_statements(siti, siti_id, moment, obat, statements):
    created = siti.post("/pengingat/obat", obat).json
    for day in range(1, 25):
        past(siti_id, day, "done", reminder_id=created["id"])
    with statements.at_most(3):  # one statement each for session, time zones and occurrences
        siti.get("/pengingat/riwayat")
    with statements.at_most(4):  # one more statement reads the reminder
        siti.get(f"/pengingat/{created['id']}/riwayat")
    with statements.at_most(3):  # one statement each for session, reminders and counts
        siti.get("/pengingat/kepatuhan")


def test_history_includes_a_dose_on_the_next_day_of_an_eastern_time_zone(siti, moment, obat):
    """In Jayapura it is 00:10. In Jakarta, the time zone of the newest reminder, it is 22:10 of the day before."""
    details = {**obat["details"], "jadwal": [{**obat["details"]["jadwal"][0], "jam": "15:10"}], "frekuensi": 1}
    eastern = siti.post("/pengingat/obat", {**obat, "timezone": "Asia/Jayapura", "details": details}).json["id"]
    siti.post("/pengingat/obat", {**obat, "timezone": "Asia/Jakarta"})
    moment.move(hours=14, minutes=30)
    for path in ("/pengingat/riwayat", f"/pengingat/{eastern}/riwayat"):
        assert rows(siti, path=path)[0][0] == "03-02T15:10"
    assert siti.get("/pengingat/kepatuhan").json["end"] == "2026-03-03"
