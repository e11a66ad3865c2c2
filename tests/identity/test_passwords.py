"""Passwords that are too easy to guess."""

import pytest

from app.identity import credentials, passwords
from tests.accounts.resets import ask
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user

PHONE = "+6281234567890"

COMMON = [passwords.DEMO, "123456", "password", "Password123", "QWERTY123", "bismillah", "indonesia"]
REPEATED = ["aaaaaa", "      ", "abcabc", "121212"]
OWN = ["siti.aminah", "Siti.Aminah", "081234567890", "6281234567890", "+62 812-3456-7890", "81234567890", "34567890",
       "\u202a0812\u20113456\u20117890\u202c"]  # fmt: skip
GOOD = ["baru123", "kucing-hitam-7", "s1t1.aminah", "081234567891", "siti.aminah!", "aaaaab", "Melati & Kenanga"]


@pytest.fixture
def production(app, change_settings):
    change_settings(environment="production")


@pytest.mark.usefixtures("production")
def test_only_passwords_that_are_easy_to_guess_are_refused_in_production():
    for password in (*COMMON, *REPEATED, *OWN):
        assert passwords.problem(password, username="siti.aminah", phone=PHONE), password
    for password in GOOD:
        for phone in (PHONE, None):
            assert passwords.problem(password, username="siti.aminah", phone=phone) is None, password


def test_the_common_password_list_has_ten_thousand_distinct_entries():
    lines = passwords.COMMON.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 10_000
    assert lines[:3] == ["123456", "password", "12345678"]
    assert all(line == line.lower() and len(line) >= 6 for line in lines)


def test_outside_production_six_characters_are_a_password(client, admin, patient):
    password = "123456"
    person = {"username": "siti.dua", "nama_ktp": "S", "nama_samaran": "M", "nomor_hp": "081311112222"}
    assert client.post("/register", {**person, "password": password}).status_code == 201
    code = ask(client, PHONE)
    assert client.post("/update-password", {"code": code, "new_password": password}).status_code == 200
    assert client.as_(patient).put("/profile", {"password": password}).status_code == 200
    new = {"email": "a@example.org", "nama_ktp": "A", "password": password}
    assert admin.post("/admins/", new).status_code == 201


@pytest.fixture
def patient():
    return make_user(username="siti.aminah", nomor_hp=PHONE)


def test_an_easy_password_is_refused_at_registration_and_in_the_profile(client, patient, production):
    body = {"username": "siti", "nama_ktp": "S", "nama_samaran": "M", "nomor_hp": "0813-1111-2222"}
    for password in ("123456", "081311112222"):
        response = client.post("/register", {**body, "password": password})
        assert_error(response, 400, "validation_error", "password")
    assert "tidak boleh sama dengan nama pengguna atau nomor HP" in response.json["message"]
    for password in ("123456", "siti.aminah", "081234567890"):
        assert_error(client.as_(patient).put("/profile", {"password": password}), 400, "validation_error", "password")
    assert credentials.authenticate("siti.aminah", PASSWORD) is patient


def test_a_reset_to_an_easy_password_is_refused_and_the_code_stays_valid(client, patient, production):
    code = ask(client, PHONE)
    easy = client.post("/update-password", {"code": code, "new_password": "password"})
    assert_error(easy, 400, "validation_error", "new_password")
    assert client.post("/update-password", {"code": code, "new_password": "kucing-hitam"}).status_code == 200


def test_a_login_with_an_existing_easy_password_still_works(client, patient):
    patient.password_hash = passwords.hash_password("123456")
    assert client.post("/login", {"username": "siti.aminah", "password": "123456"}).status_code == 200
