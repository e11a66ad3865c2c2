"""Routes that list a person's reminders of the past, and that count the answered and the missed reminders."""

from datetime import date, timedelta

import pytest

from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import NOW, past
from tests.pengingat.reports import report, text_of


def rows(client, query="", path="/pengingat/riwayat"):
    return [(row["due_at"][5:16], row["state"]) for row in client.get(path + query).json]


def test_the_history_lists_past_occurrences_newest_first(metformin, moment):
    siti, own = metformin.client, f"/pengingat/{metformin.id}/riwayat"
    assert rows(siti) == rows(siti, path=own) == []
    moment.elapse(hours=24)
    metformin.say("done", due_at="2026-03-03T00:00:00Z")
    expected = [("03-03T00:00", "done"), ("03-02T12:00", "missed")]
    assert rows(siti) == rows(siti, path=own) == expected


def test_the_history_can_be_filtered_and_paged(siti, siti_id, moment):
    past(siti_id, 19, "done", tipe="makan")
    past(siti_id, 19, "void")
    for day in (20, 21, 22):
        past(siti_id, day, "missed" if day == 21 else "done")
    assert rows(siti, "?tipe=obat&state=done") == [("02-22T12:00", "done"), ("02-20T12:00", "done")]
    assert rows(siti, "?state=void") == [("02-19T12:00", "void")]
    assert rows(siti, "?start=2026-02-20&end=2026-02-21") == [("02-21T12:00", "missed"), ("02-20T12:00", "done")]
    page = siti.get("/pengingat/riwayat?page=2&per_page=3")
    assert [row["tipe"] for row in page.json] == ["makan"]
    assert page.headers["X-Total-Count"] == "4"


def test_a_range_has_at_most_92_days_in_the_right_order(siti, moment):
    for path in ("/pengingat/riwayat", "/pengingat/kepatuhan", "/pengingat/kepatuhan/laporan"):
        for query, field in (
            ("start=2026-03-02&end=2026-03-01", "start"),
            ("start=2026-01-01&end=2026-04-03", "end"),  # 93 days, one more than allowed
            ("start=2025-11-30", "start"),  # 93 days until today
        ):
            assert_error(siti.get(f"{path}?{query}"), 400, field=field)
    for query in ("start=2026-01-01&end=2026-04-02", "start=2025-12-01"):
        assert len(siti.get(f"/pengingat/kepatuhan?{query}").json["days"]) == 92


def test_a_stranger_sees_nothing_of_a_patient(metformin, siti_id, moment):
    past(siti_id, 1, "done")
    moment.move(hours=13)
    stranger = metformin.client.as_(make_user())
    assert rows(stranger) == stranger.get("/pengingat/hari-ini").json == []
    assert stranger.get("/pengingat/kepatuhan").json["due"] == 0
    assert "Belum ada jadwal" in text_of(report(stranger))


def test_a_deleted_reminder_stays_in_the_history(metformin, moment):
    moment.elapse(hours=13)
    metformin.client.delete(f"/pengingat/{metformin.id}")
    (row,) = metformin.client.get("/pengingat/riwayat").json
    assert (row["pengingat_id"], row["judul"], row["state"]) == (None, "Obat diabetes", "missed")
    assert_error(metformin.client.get(f"/pengingat/{metformin.id}/riwayat"), 404)


def test_the_history_begins_thirty_days_ago(siti, siti_id, moment):
    past(siti_id, 1, "done")  # 30 days that end on 2 March begin on 1 February
    past(siti_id, 31, "done", month=1)
    assert rows(siti) == [("02-01T12:00", "done")]
    assert len(rows(siti, "?end=2026-02-01")) == 2


@pytest.mark.parametrize(("zone", "day"), [("Pacific/Kiritimati", "2026-03-03"), ("Pacific/Pago_Pago", "2026-03-02")])
def test_days_follow_the_time_zone_of_the_reminder(siti, moment, obat, zone, day):
    siti.post("/pengingat/obat", {**obat, "timezone": zone})
    moment.move(hours=11)
    assert rows(siti, f"?start={day}&end={day}") == [("03-02T12:00", "pending")]
    assert [row["due"] for row in siti.get(f"/pengingat/kepatuhan?start={day}&end={day}").json["days"]] == [1]
    other = f"{date.fromisoformat(day) + timedelta(days=1)}"
    assert rows(siti, f"?start={other}&end={other}") == []


def test_the_percentage_is_null_without_delivered_occurrences(siti, siti_id, moment):
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["due"], answer["reminders"]) == (None, 0, [])
    assert (answer["start"], answer["end"], len(answer["days"])) == ("2026-02-01", "2026-03-02", 30)
    past(siti_id, 20, "missed", undelivered=True)
    answer = siti.get("/pengingat/kepatuhan").json
    assert (answer["percent"], answer["undelivered"]) == (None, 1)


def test_history_includes_a_dose_on_the_next_day_of_an_eastern_time_zone(siti, moment, obat):
    """In Jayapura it is 00:10. In Jakarta, the time zone of the newest reminder, it is 22:10 of the day before."""
    eastern = create(siti, {**obat, "timezone": "Asia/Jayapura"}, **with_doses(obat, "15:10"))
    siti.post("/pengingat/obat", {**obat, "timezone": "Asia/Jakarta"})
    moment.move(hours=14, minutes=30)
    for path in ("/pengingat/riwayat", f"{eastern.path}/riwayat"):
        assert rows(siti, path=path)[0][0] == "03-02T15:10"
    assert siti.get("/pengingat/kepatuhan").json["end"] == "2026-03-03"


def test_adherence_is_summed_in_total_by_day_and_by_reminder(siti, siti_id, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    outcomes = [("done", False), ("done", True), ("skipped", False), ("missed", False), ("missed", True)]
    for state, undelivered in outcomes:
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
        "percent": 60.0,  # three of five, because pending and undelivered occurrences do not count
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
