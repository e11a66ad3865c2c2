"""Tests of the route that answers a reminder without a login."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Occurrence
from tests.helpers.client import assert_error
from tests.pengingat.links import payloads


class TestAnswerLink:
    """POST /konfirmasi/<token>"""

    def test_the_token_of_a_push_snoozes_and_answers_a_reminder(self, token, client):
        push = str(payloads("push_fan_out")[0]["token"])
        assert push != token
        answer = client.post(f"/konfirmasi/{push}", {"status": "snooze", "minutes": 10})
        assert answer.json == {
            "status": "snooze",
            "tipe": "obat",
            "due_at": "2026-03-02T12:00:00Z",
            "state": "pending",
            "snoozed_until": "2026-03-02T12:15:00Z",
        }
        client.post(f"/konfirmasi/{push}", {"status": "done"})
        row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
        assert row.answered_via == "push"

    @pytest.mark.parametrize(("field", "value"), [("status", "missed"), ("status", None), ("minutes", 3)])
    def test_an_invalid_answer_with_a_token_is_refused(self, token, client, field, value):
        data = {"status": "snooze", field: value}
        assert_error(client.post(f"/konfirmasi/{token}", data), 400, field=field)

    @pytest.mark.parametrize("unknown", ["x" * 22, "x", "x" * 500, "%00", "..%2f"])
    def test_an_unknown_token_is_404(self, client, unknown):
        assert_error(client.post(f"/konfirmasi/{unknown}", {"status": "done"}), 404)

    def test_a_deleted_reminder_cannot_be_answered(self, token, siti, client):
        siti.delete(f"/pengingat/{siti.get('/pengingat').json[0]['id']}")
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 409, "already_closed")

    def test_an_expired_link_is_410(self, token, client, moment):
        moment.move(hours=23, minutes=56)
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 410, "gone")
