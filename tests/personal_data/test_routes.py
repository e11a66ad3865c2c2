"""Tests of the routes of erasure and export: responses, refusals and invalid input."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.identity import erasure
from app.identity.models import LoginSession, User
from app.personal_data import jobs
from app.personal_data.models import DataExport
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin
from tests.helpers.language import assert_readable
from tests.personal_data.exports import ask, opened, rows
from tests.personal_data.leaving import PERSON, leave


class TestDeleteProfile:
    """DELETE /profile"""

    def test_a_request_with_the_password_starts_a_seven_day_grace_period(self, mine):
        told = leave(mine)
        due = datetime.fromisoformat(told["due_at"])
        assert timedelta(days=6, hours=23) < due - datetime.now(UTC) <= erasure.GRACE
        assert_error(mine.get("/profile"), 401, "session_ended")
        assert db.session.scalar(sa.select(sa.func.count()).where(LoginSession.user_id == mine.id)) == 0
        jobs.erase(mine.id)
        assert db.session.get(User, mine.id) is not None, "nothing is erased before the due time"

    def test_a_request_with_a_bad_password_is_refused(self, mine):
        refused = mine.delete("/profile", {"password": "salah-sekali", "forum": "delete"})
        assert_error(refused, 400, "wrong_current_password")
        assert mine.get("/profile").status_code == 200

    @pytest.mark.parametrize("make", [make_admin, make_superadmin])
    def test_the_last_administrator_and_superadmin_cannot_request_erasure(self, client, make):
        last = client.as_(make())
        assert_error(last.delete("/profile", {"password": PASSWORD, "forum": "delete"}), 409, "last_admin")
        another = client.as_(make())
        assert leave(another)
        # The last administrator cannot request their own erasure if all other administrators have requested theirs.
        assert_error(last.delete("/profile", {"password": PASSWORD, "forum": "delete"}), 409, "last_admin")


class TestCreateExport:
    """POST /profile/ekspor"""

    def test_the_callers_own_password_is_required(self, mine):
        assert_error(mine.post("/profile/ekspor", {"password": "salah-sekali"}), 400, "wrong_current_password")
        ask(mine)  # refused requests do not count towards the limit

    def test_a_second_export_of_the_same_day_is_refused(self, mine):
        export_id = ask(mine)
        response = mine.post("/profile/ekspor", {"password": PASSWORD})
        assert_error(response, 429, "too_many_requests")
        assert 0 < int(response.headers["Retry-After"]) <= 86401
        yesterday = (
            sa.update(DataExport).where(DataExport.id == export_id).values(day=local_time.today() - timedelta(days=1))
        )
        db.session.execute(yesterday)
        assert ask(mine) != export_id

    def test_a_retry_with_the_idempotency_key_gets_the_same_response(self, mine):
        """A client that lost the response repeats the request, because the download needs the id of the export."""
        asked = [
            mine.post("/profile/ekspor", {"password": PASSWORD}, headers={"Idempotency-Key": "salinan-hari-ini"})
            for _ in range(2)
        ]
        assert [response.status_code for response in asked] == [202, 202]
        assert asked[0].json == asked[1].json
        other = {"password": "salah-sekali"}
        again = mine.post("/profile/ekspor", other, headers={"Idempotency-Key": "salinan-hari-ini"})
        assert_error(again, 409, "idempotency_mismatch")


class TestGetExport:
    """GET /profile/ekspor/<export_id>"""

    def test_an_export_created_by_the_job_can_be_downloaded(self, mine):
        export_id = ask(mine)
        waiting = mine.get(f"/profile/ekspor/{export_id}")
        assert (waiting.status_code, waiting.json) == (202, {"id": export_id, "status": "pending"})
        jobs.make_export(export_id)
        response = mine.get(f"/profile/ekspor/{export_id}")
        assert response.headers["Content-Disposition"].startswith('attachment; filename="data-saya-')
        assert response.headers["Cache-Control"] == "no-store"
        with opened(mine, export_id) as file:
            assert file.testzip() is None
            profile = rows(file, "users")
            assert [row["nama_ktp"] for row in profile] == [PERSON["nama_ktp"]]
            assert profile[0]["nik"] == PERSON["nik"]
            assert "password_hash" not in profile[0]
            readme = file.read("README.txt").decode()
        assert PERSON["nama_ktp"] in readme
        for line in readme.splitlines():
            assert_readable(line.rpartition(": ")[2])  # check only the description after the table's name
