"""Route for answers to reminders without a login."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Occurrence
from tests.helpers.client import Client, assert_error
from tests.pengingat.ledgers import Time
from tests.pengingat.links import payloads


class TestAnswerLink:
    """POST /konfirmasi/<token>"""

    def test_a_service_worker_answers_by_the_token_of_its_push(self, token: str, client: Client) -> None:
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
    def test_wrong_answers_to_a_token_are_refused(self, token: str, client: Client, field: str, value: Any) -> None:
        data = {"status": "snooze", field: value}
        assert_error(client.post(f"/konfirmasi/{token}", data), 400, field=field)

    @pytest.mark.parametrize("unknown", ["x" * 22, "x", "x" * 500, "%00", "..%2f"])
    def test_an_unknown_token_is_no_record(self, client: Client, unknown: str) -> None:
        assert_error(client.post(f"/konfirmasi/{unknown}", {"status": "done"}), 404)

    def test_a_deleted_reminder_is_closed(self, token: str, siti: Client, client: Client) -> None:
        siti.delete(f"/pengingat/{siti.get('/pengingat').json[0]['id']}")
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 409, "already_closed")

    def test_a_link_is_gone_after_a_day(self, token: str, client: Client, moment: Time) -> None:
        moment.move(hours=23, minutes=56)
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 410, "gone")
