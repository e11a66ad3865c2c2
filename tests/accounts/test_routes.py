"""Tests of the account routes, in the order of `routes.py`."""

import io

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import LoginSession, RoleName
from tests.accounts.registration import SITI, registered
from tests.accounts.resets import ask as ask_for_reset
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_superadmin, make_user
from tests.helpers.role_ids import role_id

NIK = "3273014502900001"


def log_in(client, username):
    return client.post("/login", {"username": username, "password": PASSWORD}).ok()


class TestLogin:
    """POST /login"""

    def test_a_person_logs_in_by_username_email_or_phone_in_any_form(self, client):
        make_user(username="siti.aminah", email="siti@example.com", nomor_hp="0812 3456 7890")
        for login in ("  Siti.Aminah ", "SITI@Example.com", "6281234567890", "+62 (0)812-3456 7890"):
            log_in(client, login)

    def test_all_wrong_credentials_get_the_same_error_message(self, client):
        make_user(username="siti")
        for username, password in (("siti", "salah-sekali"), ("tidakada", PASSWORD), ("siti", " " + PASSWORD)):
            response = client.post("/login", {"username": username, "password": password})
            assert_error(response, 401, "wrong_credentials")
            assert response.json["message"] == "Nama pengguna atau kata sandi salah."


class TestSuperadminLogin:
    """POST /superadmin/login"""

    def test_a_superadmin_logs_in_without_a_refresh_token(self, client):
        make_superadmin(username="bos")
        assert client.post("/superadmin/login", {"username": "bos", "password": PASSWORD}).status_code == 200

    def test_valid_credentials_of_another_role_are_403_and_wrong_ones_401(self, client):
        make_user(RoleName.ADMIN, username="siti")
        for password, error in ((PASSWORD, (403, "superadmin_only")), ("salah-sekali", (401, "wrong_credentials"))):
            assert_error(client.post("/superadmin/login", {"username": "siti", "password": password}), *error)


class TestRegister:
    """POST /register"""

    def test_registration_with_only_required_fields_logs_the_user_in(self, client):
        profile = client.with_token(client.post("/register", SITI).ok(201)["access_token"]).get("/profile").json
        assert profile["username"] == "siti"
        assert profile["role"] == "pasien"
        assert profile["nomor_hp"] == "0812-3456-7890"
        assert registered().phone == "+6281234567890"

    def test_username_email_and_phone_must_be_unique(self, client):
        make_user(username="siti", email="siti@example.com", nomor_hp="081234567890")
        body = {**SITI, "username": "ani", "nomor_hp": "081999999999", "email": "ani@example.com"}
        for changes, code in (
            ({"username": "SITI"}, "username_taken"),
            ({"email": "Siti@Example.com"}, "email_taken"),
            ({"nomor_hp": "+6281234567890"}, "phone_taken"),
        ):
            assert_error(client.post("/register", {**body, **changes}), 409, code)

    def test_registration_with_a_privileged_or_unknown_role_is_refused(self, client):
        by_name = [{"role": name} for name in ("admin", "Admin", "superadmin", "relawan")]
        for role in (*by_name, {"role_ids": [role_id("admin")]}, {"role_ids": [role_id("superadmin")]}):
            assert_error(client.post("/register", {**SITI, **role}), 403, "role_not_allowed")
        assert credentials.by_login("siti") is None


class TestRefresh:
    """POST /refresh"""

    def test_a_refresh_gives_an_access_token_and_keeps_the_hashed_refresh_token(self, client):
        make_user(username="siti")
        refresh = log_in(client, "siti")["refresh_token"]
        assert refresh not in db.session.scalars(sa.select(LoginSession.refresh_hash)).one()
        for _ in range(2):
            body = client.post("/refresh", {"refresh_token": refresh}).ok()
            assert client.with_token(body["access_token"]).get("/profile").status_code == 200

    def test_an_unknown_token_and_an_access_token_are_refused(self, client):
        make_user(username="siti")
        for token in ("nonsense", "x" * 4096, log_in(client, "siti")["access_token"]):
            assert_error(client.post("/refresh", {"refresh_token": token}), 401, "invalid_refresh_token")


class TestCheckUsername:
    """POST /auth/check-username"""

    def test_returns_whether_a_username_is_available(self, client):
        make_user(username="siti")
        for username, available in (("siti", False), ("SITI", False), ("ani", True), ("x", False), ("users", False)):
            response = client.post("/auth/check-username", {"username": username})
            assert (response.status_code, response.json["available"]) == (200, available)


class TestUpdatePassword:
    """POST /update-password"""

    def test_the_link_sets_a_new_password_once_and_ends_every_session(self, client, owner):
        device = client.as_(owner.user)
        code = ask_for_reset(client)
        body = {"code": code, "new_password": "baru123"}
        assert client.post("/update-password", body).status_code == 200
        assert credentials.authenticate("siti", "baru123") is not None
        assert_error(device.get("/profile"), 401, "session_ended")
        assert_error(client.post("/update-password", body), 400, "invalid_code")


class TestLogout:
    """POST /logout"""

    def test_logout_ends_both_tokens_of_the_current_session_only(self, client):
        make_user(username="siti")
        phone, laptop = log_in(client, "siti"), log_in(client, "siti")
        assert client.with_token(phone["access_token"]).post("/logout").status_code == 200
        assert_error(client.with_token(phone["access_token"]).get("/profile"), 401, "session_ended")
        assert_error(client.post("/refresh", {"refresh_token": phone["refresh_token"]}), 401)
        assert client.with_token(laptop["access_token"]).get("/profile").status_code == 200


class TestGetProfile:
    """GET /profile"""

    def test_the_profile_has_all_fields_and_the_decrypted_nik(self, siti):
        assert siti.put("/profile", {"nik": NIK}).status_code == 200
        response = siti.get("/profile")
        assert response.status_code == 200
        assert response.json["nik"] == NIK
        assert response.json["roles"] == [{"id": role_id("pasien"), "name": "pasien", "is_editable": False}]
        assert response.json["created_at"].endswith("Z")
        assert response.headers["Cache-Control"] == "no-store"


class TestUpdateProfile:
    """PUT /profile"""

    def test_the_email_or_phone_number_of_another_user_is_refused(self, siti):
        make_user(email="ani@example.com", nomor_hp="081999999999")
        assert_error(siti.put("/profile", {"email": "ANI@example.com"}), 409, "email_taken")
        assert_error(siti.put("/profile", {"nomor_hp": "+62 819-9999-9999"}), 409, "phone_taken")
        assert siti.get("/profile").status_code == 200

    def test_a_user_cannot_give_themselves_a_privileged_role(self, siti):
        for name in (RoleName.ADMIN, RoleName.SUPERADMIN):
            assert_error(siti.put("/profile", {"role_ids": [role_id(name)]}), 403, "role_not_allowed")
            assert_error(siti.put("/profile", data={"role_ids": str(role_id(name))}), 403, "role_not_allowed")
        assert siti.get("/profile").json["role"] == "pasien"

    def test_an_invalid_value_names_its_field_and_changes_nothing(self, siti):
        before = siti.get("/profile").json
        for field, value in (
            ("nomor_hp", None),
            ("nomor_hp", "bukan"),
            ("password", " "),
            ("nama_samaran", None),
            ("nik", "12"),
            ("role_ids", [10**15]),
            ("domicile", "Mars"),
        ):
            assert_error(siti.put("/profile", {field: value}), 400, "validation_error", field)
        assert siti.get("/profile").json == before

    def test_a_picture_over_5_mb_is_refused(self, siti):
        response = siti.put("/profile", data={"image": (io.BytesIO(b"x" * (5 * 1024 * 1024 + 1)), "foto.jpg")})
        assert_error(response, 413, "image_too_large")


class TestGetUserRoles:
    """GET /users/<user_id>"""

    def test_users_see_their_own_roles_and_admins_see_the_roles_of_others(self, siti, admin):
        role = {"id": role_id("pasien"), "name": "pasien", "is_editable": False}
        for asker in (siti, admin):
            assert asker.get(f"/users/{siti.id}").json == {"id": siti.id, "username": "siti", "roles": [role]}


class TestListProvinces:
    """GET /provinces"""

    def test_the_38_provinces_are_public(self, client):
        response = client.get("/provinces")
        assert len(response.json) == 38
        assert response.json[0] == "Aceh"
        assert response.json[-1] == "Papua Barat Daya"
