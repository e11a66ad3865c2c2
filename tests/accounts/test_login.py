"""Logging in, refreshing, logging out."""

from __future__ import annotations

import pytest

from app.core.database.session import db
from app.identity.models import LoginSession, RoleName
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_superadmin, make_user


def log_in(client: Client, username: str, password: str = PASSWORD) -> dict[str, str]:
    response = client.post("/login", {"username": username, "password": password})
    assert response.status_code == 200, response.json
    return response.json


@pytest.mark.parametrize(
    "login",
    [
        "Siti.Aminah",
        "SITI@Example.com",
        "081234567890",
        "6281234567890",
        "+62 812-3456-7890",
        "+62 (0)812 3456 7890",
        "  siti.aminah ",
    ],
)
def test_a_person_logs_in_by_username_email_or_phone_in_any_form(client: Client, login: str) -> None:
    make_user(username="siti.aminah", email="siti@example.com", nomor_hp="0812 3456 7890")
    assert set(log_in(client, login)) == {"access_token", "refresh_token"}


@pytest.mark.parametrize(
    ("username", "password"), [("siti", "salah-sekali"), ("tidakada", PASSWORD), ("siti", " " + PASSWORD)]
)
def test_wrong_credentials_are_refused_alike(client: Client, username: str, password: str) -> None:
    make_user(username="siti")
    response = client.post("/login", {"username": username, "password": password})
    assert_error(response, 401, "wrong_credentials")
    assert response.json["message"] == "Nama pengguna atau kata sandi salah."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "username"),
        ({"username": "siti"}, "password"),
        ({"username": 5, "password": "x"}, "username"),
        ([], "_schema"),
    ],
)
def test_a_login_without_credentials_is_bad_input(client: Client, body: object, field: str) -> None:
    assert_error(client.post("/login", body), 400, "validation_error", field)


def test_a_refresh_gives_an_access_token_and_keeps_the_refresh_token(client: Client) -> None:
    make_user(username="siti")
    refresh = log_in(client, "siti")["refresh_token"]
    for _ in range(2):
        response = client.post("/refresh", {"refresh_token": refresh})
        assert response.status_code == 200
        assert set(response.json) == {"access_token"}
        assert client.with_token(response.json["access_token"]).get("/profile").status_code == 200


@pytest.mark.parametrize("token", ["nonsense", "x" * 500, "x" * 4096])
def test_an_unknown_refresh_token_is_refused(client: Client, token: str) -> None:
    assert_error(client.post("/refresh", {"refresh_token": token}), 401, "invalid_refresh_token")


def test_an_access_token_does_not_refresh(client: Client) -> None:
    make_user(username="siti")
    access = log_in(client, "siti")["access_token"]
    assert_error(client.post("/refresh", {"refresh_token": access}), 401, "invalid_refresh_token")


def test_a_refresh_without_a_token_is_bad_input(client: Client) -> None:
    assert_error(client.post("/refresh", {}), 400, "validation_error", "refresh_token")


def test_logout_ends_this_device_alone_access_token_included(client: Client) -> None:
    make_user(username="siti")
    phone, laptop = log_in(client, "siti"), log_in(client, "siti")
    assert client.with_token(phone["access_token"]).post("/logout").status_code == 200
    assert_error(client.with_token(phone["access_token"]).get("/profile"), 401, "session_ended")
    assert_error(client.post("/refresh", {"refresh_token": phone["refresh_token"]}), 401)
    assert client.with_token(laptop["access_token"]).get("/profile").status_code == 200


def test_logout_without_a_token_is_refused(client: Client) -> None:
    assert_error(client.post("/logout"), 401, "unauthorized")


def test_refresh_tokens_are_stored_hashed(client: Client) -> None:
    make_user(username="siti")
    refresh = log_in(client, "siti")["refresh_token"]
    stored = db.session.scalars(db.select(LoginSession.refresh_hash)).all()
    assert len(stored) == 1
    assert refresh not in stored[0]


def test_a_superadmin_logs_in_without_a_refresh_token(client: Client) -> None:
    make_superadmin(username="bos")
    response = client.post("/superadmin/login", {"username": "bos", "password": PASSWORD})
    assert response.status_code == 200
    assert set(response.json) == {"access_token", "message"}


@pytest.mark.parametrize("role", [RoleName.ADMIN, RoleName.PASIEN, RoleName.PENDAMPING])
def test_right_credentials_that_are_no_superadmins_are_forbidden(client: Client, role: RoleName) -> None:
    make_user(role, username="siti")
    response = client.post("/superadmin/login", {"username": "siti", "password": PASSWORD})
    assert_error(response, 403, "superadmin_only")


def test_wrong_superadmin_credentials_are_refused(client: Client) -> None:
    make_superadmin(username="bos")
    response = client.post("/superadmin/login", {"username": "bos", "password": "salah-sekali"})
    assert_error(response, 401, "wrong_credentials")
