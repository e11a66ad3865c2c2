"""Tests of the second factor's routes: who may call them, bad input, and the number of recovery codes."""

from urllib.parse import parse_qs, urlsplit

import pyotp

from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD

PATH = "/profile/otp"
CODES = f"{PATH}/recovery-codes"


def begin(admin):
    body = admin.post(PATH, {"password": PASSWORD}).ok(201)
    (secret,) = parse_qs(urlsplit(body["uri"]).query)["secret"]
    return pyotp.TOTP(secret).now(), body["recovery_codes"]


def test_the_second_factor_is_for_administrators(siti):
    for method, path in (("GET", PATH), ("POST", PATH), ("POST", CODES)):
        body = None if method == "GET" else {"password": PASSWORD, "otp": "000000"}
        assert_error(siti.open(method, path, body), 403, "forbidden")


def test_without_a_second_factor_is_404(admin):
    for method, path in (("PUT", PATH), ("DELETE", PATH), ("POST", CODES)):
        assert_error(admin.open(method, path, {"password": PASSWORD, "otp": "000000"}), 404)


def test_the_number_of_unused_recovery_codes_is_shown(client, admin):
    off = {"active": False, "recovery_codes_left": 0}
    assert admin.get(PATH).json == off
    digits, codes = begin(admin)
    assert admin.get(PATH).json == off, "the factor is inactive until a code confirms it"
    assert admin.put(PATH, {"otp": digits}).json == {"message": "Verifikasi dua langkah aktif."}
    assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 10}
    login = {"username": admin.user.username, "password": PASSWORD, "otp": codes[0]}
    assert client.post("/login", login).status_code == 200
    assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 9}
    ended = admin.delete(PATH, {"password": PASSWORD, "otp": codes[1]})
    assert (ended.status_code, ended.json) == (200, {"message": "Verifikasi dua langkah dimatikan."})


def test_new_recovery_codes_replace_the_old_ones_of_a_confirmed_factor(client, admin):
    digits, old = begin(admin)
    assert_error(admin.post(CODES, {"password": PASSWORD, "otp": old[0]}), 404)
    admin.put(PATH, {"otp": digits})
    assert_error(admin.post(CODES, {"password": "salah", "otp": old[0]}), 400, "wrong_current_password")
    assert_error(admin.post(CODES, {"password": PASSWORD, "otp": "000000"}), 400, "invalid_otp")
    assert admin.get(PATH).json == {"active": True, "recovery_codes_left": 10}
    new = admin.post(CODES, {"password": PASSWORD, "otp": old[0]}).ok(201)["recovery_codes"]
    assert len(set(new) - set(old)) == 10
    login = {"username": admin.user.username, "password": PASSWORD}
    assert_error(client.post("/login", {**login, "otp": old[1]}), 401, "invalid_otp")
    assert client.post("/login", {**login, "otp": new[0]}).status_code == 200
