"""Tests of the second factor's routes, in the order of `otp_routes.py`."""

from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest

from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD
from tests.helpers.routes import TokenNeeded

PATH = "/profile/otp"


def begin(admin):
    response = admin.post(PATH, {"password": PASSWORD})
    assert (response.status_code, set(response.json)) == (201, {"uri", "recovery_codes"})
    (secret,) = parse_qs(urlsplit(response.json["uri"]).query)["secret"]
    return pyotp.TOTP(secret).now(), response.json["recovery_codes"]


class TestGetOtp(TokenNeeded):
    """GET /profile/otp"""

    def test_returns_the_number_of_unused_recovery_codes(self, client, admin):
        off = {"active": False, "recovery_codes_left": 0}
        assert admin.get(PATH).json == off
        digits, codes = begin(admin)
        assert admin.get(PATH).json == off, "the factor is inactive until a code confirms it"
        admin.put(PATH, {"otp": digits})
        assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 10}
        login = {"username": admin.user.username, "password": PASSWORD, "otp": codes[0]}
        assert client.post("/login", login).status_code == 200
        assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 9}

    def test_is_for_administrators(self, siti, budi):
        for other in (siti, budi):
            assert_error(other.get(PATH), 403, "forbidden")


class TestBeginOtp(TokenNeeded):
    """POST /profile/otp"""

    def test_returns_a_uri_and_ten_recovery_codes(self, admin):
        assert len(begin(admin)[1]) == 10

    def test_is_for_administrators(self, siti, budi):
        for other in (siti, budi):
            assert_error(other.post(PATH, {"password": PASSWORD}), 403, "forbidden")

    @pytest.mark.parametrize("body", [{}, {"password": 5}])
    def test_needs_a_password(self, admin, body):
        assert_error(admin.post(PATH, body), 400, "validation_error", "password")


class TestConfirmOtp(TokenNeeded):
    """PUT /profile/otp"""

    def test_a_valid_code_activates_the_second_factor(self, admin):
        digits, _ = begin(admin)
        assert_error(admin.put(PATH, {"otp": "x"}), 400, "invalid_otp")
        response = admin.put(PATH, {"otp": digits})
        assert (response.status_code, response.json) == (200, {"message": "Verifikasi dua langkah aktif."})

    def test_without_a_started_setup_is_404(self, admin):
        assert_error(admin.put(PATH, {"otp": "000000"}), 404)

    @pytest.mark.parametrize("body", [{}, {"otp": "1" * 41}, {"otp": 492039}])
    def test_a_malformed_code_is_bad_input(self, admin, body):
        assert_error(admin.put(PATH, body), 400, "validation_error", "otp")


class TestEndOtp(TokenNeeded):
    """DELETE /profile/otp"""

    def test_the_password_and_a_recovery_code_deactivate_the_second_factor(self, admin):
        digits, codes = begin(admin)
        admin.put(PATH, {"otp": digits})
        assert_error(admin.delete(PATH, {"password": "salah", "otp": codes[0]}), 400, "wrong_current_password")
        assert_error(admin.delete(PATH, {"password": PASSWORD, "otp": "000000"}), 400, "invalid_otp")
        response = admin.delete(PATH, {"password": PASSWORD, "otp": codes[0]})
        assert (response.status_code, response.json) == (200, {"message": "Verifikasi dua langkah dimatikan."})

    def test_without_a_second_factor_is_404(self, admin):
        assert_error(admin.delete(PATH, {"password": PASSWORD, "otp": "000000"}), 404)

    @pytest.mark.parametrize(("body", "field"), [({"otp": "492039"}, "password"), ({"password": PASSWORD}, "otp")])
    def test_password_and_code_are_required(self, admin, body, field):
        assert_error(admin.delete(PATH, body), 400, "validation_error", field)


class TestReplaceRecoveryCodes(TokenNeeded):
    """POST /profile/otp/recovery-codes"""

    PATH = f"{PATH}/recovery-codes"

    def test_new_recovery_codes_replace_the_old_codes(self, client, admin):
        digits, old = begin(admin)
        admin.put(PATH, {"otp": digits})
        response = admin.post(self.PATH, {"password": PASSWORD, "otp": old[0]})
        assert (response.status_code, set(response.json)) == (201, {"recovery_codes"})
        new = response.json["recovery_codes"]
        assert len(set(new) - set(old)) == 10
        login = {"username": admin.user.username, "password": PASSWORD}
        assert_error(client.post("/login", {**login, "otp": old[1]}), 401, "invalid_otp")
        assert client.post("/login", {**login, "otp": new[0]}).status_code == 200
        assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 9}

    def test_a_wrong_password_or_code_changes_nothing(self, admin):
        digits, codes = begin(admin)
        admin.put(PATH, {"otp": digits})
        assert_error(admin.post(self.PATH, {"password": "salah", "otp": codes[0]}), 400, "wrong_current_password")
        assert_error(admin.post(self.PATH, {"password": PASSWORD, "otp": "000000"}), 400, "invalid_otp")
        assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 10}

    def test_without_a_confirmed_second_factor_is_404(self, admin):
        assert_error(admin.post(self.PATH, {"password": PASSWORD, "otp": "000000"}), 404)
        _, codes = begin(admin)
        assert_error(admin.post(self.PATH, {"password": PASSWORD, "otp": codes[0]}), 404)

    def test_is_for_administrators(self, siti, budi):
        for other in (siti, budi):
            assert_error(other.post(self.PATH, {"password": PASSWORD, "otp": "000000"}), 403, "forbidden")

    @pytest.mark.parametrize(("body", "field"), [({"otp": "492039"}, "password"), ({"password": PASSWORD}, "otp")])
    def test_password_and_code_are_required(self, admin, body, field):
        assert_error(admin.post(self.PATH, body), 400, "validation_error", field)
