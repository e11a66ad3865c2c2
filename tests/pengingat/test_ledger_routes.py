"""Routes for history and answers. test_managed.py tests access with `?patient_id=`."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import sessions
from app.pengingat import jobs
from app.pengingat.models import Occurrence
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.histories import rows
from tests.pengingat.ledgers import NOW, ledger, past
from tests.pengingat.reports import report, text_of

#: Invalid queries of the history routes, with the name of the invalid field.
WRONG_DAYS = [
    ("start=2026-03-02&end=2026-03-01", "start"),
    ("start=2026-01-01&end=2026-04-03", "end"),  # 93 days, one more than allowed
    ("start=2025-11-30", "start"),  # 93 days until today
    ("start=kemarin", "start"),
    ("end=2026-13-01", "end"),
    ("start=20260301", "start"),
]


class TestAnswerReminder:
    """POST /pengingat/<pengingat_id>/konfirmasi"""

    def test_an_answer_returns_the_occurrence(self, metformin, moment):
        moment.move(hours=11, minutes=5)
        answer = metformin.say("done")
        assert answer.status_code == 200
        row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
        assert answer.json == {
            "id": row.id,
            "pengingat_id": metformin.id,
            "tipe": "obat",
            "judul": "Obat diabetes",
            "slot": "1",
            "due_at": "2026-03-02T12:00:00Z",
            "state": "done",
            "late": False,
            "answered_at": "2026-03-02T12:05:00Z",
            "answered_via": "app",
            "snoozed_until": None,
            "undelivered": False,
        }
        assert metformin.is_done

    def test_an_answer_long_before_the_next_dose_is_404(self, metformin):
        assert_error(metformin.say("done"), 404, "not_found")
        assert ledger()[0] == "02 12:00 1 pending"

    def test_an_answer_to_an_unknown_occurrence_is_404(self, metformin, moment):
        moment.move(hours=11)
        for named in ({"due_at": "2026-03-02T12:00:01Z"}, {"due_at": "2026-03-02T12:00:00Z", "slot": "0"}):
            assert_error(metformin.say("done", **named), 404, "not_found")

    def test_an_occurrence_removed_by_an_edit_cannot_be_answered(self, metformin, moment, obat):
        moment.move(hours=10, minutes=30)
        details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
        metformin.client.put(f"/pengingat/{metformin.id}", {"details": details})
        assert_error(metformin.say("done", due_at="2026-03-02T12:00:00Z"), 409, "already_closed")

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("status", None),
            ("status", "missed"),
            ("status", "void"),
            ("status", 7),
            ("minutes", 4),
            ("minutes", 121),
            ("minutes", 7.5),
            ("minutes", "lama"),
            ("due_at", "besok"),
            ("due_at", "2026-03-02T12:00:00"),
            ("slot", "x" * 51),
        ],
    )
    def test_a_wrong_answer_is_refused(self, metformin, field, value):
        data = {"status": "snooze", field: value}
        assert_error(metformin.client.post(f"/pengingat/{metformin.id}/konfirmasi", data), 400, field=field)

    def test_an_answer_without_a_status_is_refused(self, metformin):
        assert_error(metformin.client.post(f"/pengingat/{metformin.id}/konfirmasi", {}), 400, field="status")

    def test_the_reminder_of_another_person_cannot_be_answered(self, metformin, client, moment):
        moment.move(hours=11, minutes=5)
        path = f"/pengingat/{metformin.id}/konfirmasi"
        assert_error(metformin.client.as_(make_user()).post(path, {"status": "done"}), 404)
        assert_error(client.post(path, {"status": "done"}), 401)
        assert_error(metformin.client.post("/pengingat/999999/konfirmasi", {"status": "done"}), 404)
        assert ledger()[0] == "02 12:00 1 pending"

    @pytest.mark.parametrize(
        "data",
        [
            {"status": "done"},
            {"status": "done", "due_at": "2026-03-02T12:00:00Z"},
            {"status": "snooze"},
            {"status": "entah"},
            {},
        ],
    )
    @pytest.mark.parametrize("query", ["", "?patient_id=1", "?patient_id=entah"])
    def test_an_answer_after_the_session_ended_is_401_despite_other_errors(
        self, metformin, siti_id, moment, data, query
    ):
        """The response is 401 without a valid session, even if the request has other errors."""
        moment.move(hours=11, minutes=5)
        jobs.top_up()
        sessions.end_all(siti_id)
        answer = metformin.client.post(f"/pengingat/{metformin.id}/konfirmasi{query}", data)
        assert_error(answer, 401, "session_ended")
        assert ledger()[0] == "02 12:00 1 pending"


class TestListHistory:
    """GET /pengingat/riwayat"""

    def test_the_history_lists_past_occurrences_newest_first(self, siti, moment, obat):
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

    def test_the_history_can_be_filtered_and_paged(self, siti, siti_id, moment):
        past(siti_id, 19, "done", tipe="makan")
        for day in (20, 21, 22):
            past(siti_id, day, "missed" if day == 21 else "done")
        assert rows(siti, "?tipe=obat&state=done") == [("02-22T12:00", "done"), ("02-20T12:00", "done")]
        assert rows(siti, "?start=2026-02-20&end=2026-02-21") == [("02-21T12:00", "missed"), ("02-20T12:00", "done")]
        page = siti.get("/pengingat/riwayat?page=2&per_page=3")
        assert [row["tipe"] for row in page.json] == ["makan"]
        assert page.headers["X-Total-Count"] == "4"

    @pytest.mark.parametrize(
        ("query", "field"), [*WRONG_DAYS, ("tipe=tidur", "tipe"), ("state=late", "state"), ("page=0", "page")]
    )
    def test_wrong_days_and_filters_are_refused(self, siti, moment, query, field):
        assert_error(siti.get(f"/pengingat/riwayat?{query}"), 400, field=field)

    def test_a_stranger_cannot_see_the_history_or_adherence_of_a_patient(self, siti, client, moment, obat):
        created = siti.post("/pengingat/obat", obat).json
        moment.move(hours=13)
        stranger = siti.as_(make_user())
        assert rows(stranger) == []
        assert stranger.get("/pengingat/kepatuhan").json["due"] == 0
        assert_error(stranger.get(f"/pengingat/{created['id']}/riwayat"), 404)
        for path in ("/pengingat/riwayat", f"/pengingat/{created['id']}/riwayat", "/pengingat/kepatuhan"):
            assert_error(client.get(path), 401)


class TestListReminderHistory:
    """GET /pengingat/<pengingat_id>/riwayat"""

    def test_a_deleted_reminder_stays_in_the_history(self, siti, moment, obat):
        created = siti.post("/pengingat/obat", obat).json
        moment.move(hours=13)
        jobs.miss_overdue()
        siti.delete(f"/pengingat/{created['id']}")
        (row,) = siti.get("/pengingat/riwayat").json
        assert (row["pengingat_id"], row["judul"], row["state"]) == (None, "Obat diabetes", "missed")
        assert_error(siti.get(f"/pengingat/{created['id']}/riwayat"), 404)

    def test_wrong_days_and_strangers_are_refused(self, siti, metformin, client):
        path = f"/pengingat/{metformin.id}/riwayat"
        assert siti.get(path).json == []
        assert_error(siti.get(f"{path}?start=kemarin"), 400, field="start")
        assert_error(client.as_(make_user()).get(path), 404, "not_found")


class TestGetAdherence:
    """GET /pengingat/kepatuhan"""

    def test_adherence_is_summed_in_total_by_day_and_by_reminder(self, siti, siti_id, moment, obat):
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

    @pytest.mark.parametrize("query", ["start=2026-01-01&end=2026-04-02", "start=2025-12-01"])
    def test_a_range_of_92_days_is_accepted(self, siti, moment, query):
        assert len(siti.get(f"/pengingat/kepatuhan?{query}").json["days"]) == 92

    @pytest.mark.parametrize(("query", "field"), WRONG_DAYS)
    def test_wrong_days_are_refused(self, siti, moment, query, field):
        assert_error(siti.get(f"/pengingat/kepatuhan?{query}"), 400, field=field)


class TestExportAdherence:
    """GET /pengingat/kepatuhan/laporan"""

    def test_the_report_contains_only_data_of_the_caller(self, siti, siti_id, moment, client):
        past(siti_id, 1, "done")
        assert "Belum ada jadwal" in text_of(report(siti.as_(make_user())))
        assert_error(client.get("/pengingat/kepatuhan/laporan"), 401)

    def test_an_invalid_date_range_is_refused(self, siti, moment):
        for query in ("start=2026-03-02&end=2026-03-01", "start=2025-01-01"):
            assert_error(siti.get(f"/pengingat/kepatuhan/laporan?{query}"), 400, field="start")
