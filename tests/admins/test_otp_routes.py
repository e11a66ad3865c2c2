"""The route by which a super-admin removes the second factor of an administrator."""

from typing import ClassVar

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.admins.factors import set_up
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of


class TestRemoveAdminOtp:
    """DELETE /admins/<user_id>/otp"""

    BODY: ClassVar = {"reason": "Ponselnya hilang.", "password": PASSWORD}

    def test_a_superadmin_removes_a_second_factor_and_its_owner_is_notified(self, client, admin, superadmin):
        codes = set_up(admin)
        assert superadmin.delete(f"/admins/{admin.id}/otp", self.BODY).status_code == 204
        assert_error(admin.get("/profile"), 401, "session_ended")
        login = {"username": "rina", "password": PASSWORD}
        assert client.post("/login", login).status_code == 200, codes
        (row,) = superadmin.get("/admins/audit?action=second_factor_removed").json
        assert (row["actor"], row["subject"]) == ("dewi", f"user:{admin.id}")
        assert row["details"] == {"reason": "Ponselnya hilang."}
        (told,) = db.session.scalars(sa.select(Delivery).filter_by(user_id=admin.id))
        assert (told.kind, told.channel) == ("security_notice", "messaging")
        assert_readable(str(words_of(told)["text"]))

    def test_a_superadmin_with_a_second_factor_must_send_a_code(self, admin, superadmin):
        set_up(admin)
        codes, path = set_up(superadmin), f"/admins/{admin.id}/otp"
        assert_error(superadmin.delete(path, self.BODY), 400, "otp_required")
        assert_error(superadmin.delete(path, {**self.BODY, "otp": "000000"}), 400, "invalid_otp")
        assert_error(superadmin.delete(path, {**self.BODY, "password": "salah"}), 400, "wrong_current_password")
        assert admin.get("/profile/otp").json["active"] is True
        assert superadmin.delete(path, {**self.BODY, "otp": codes[0]}).status_code == 204

    def test_removing_the_own_second_factor_is_a_conflict(self, superadmin):
        assert_error(superadmin.delete(f"/admins/{superadmin.id}/otp", self.BODY), 409, "own_account")

    def test_a_person_without_a_second_factor_is_not_found(self, admin, superadmin):
        assert_error(superadmin.delete(f"/admins/{admin.id}/otp", self.BODY), 404)
        assert admin.get("/profile").status_code == 200
