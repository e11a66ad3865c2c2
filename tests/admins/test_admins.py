"""Administrators create, change and delete one another, within limits."""

from __future__ import annotations

from io import BytesIO
from uuid import uuid4

import pytest
import sqlalchemy as sa
from flask import Flask

from app.admins.service import admins
from app.core.database.session import db, unit_of_work
from app.identity.models import RoleName, SessionKind, User
from app.identity.sessions import Caller
from tests.core.media.samples import plain
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user
from tests.helpers.overlap import done_twice_at_once

FORM = {"email": "Rina.Wijaya@contoh.id", "password": PASSWORD, "nama_ktp": "Rina Wijaya"}


@pytest.fixture
def me() -> str:
    return "bos"


@pytest.fixture
def admin(client: Client, me: str) -> Client:
    return client.as_(make_admin(username=me))


def test_administrators_alone_are_listed(admin: Client) -> None:
    make_user(username="siti")
    response = admin.get("/admins/")
    assert [row["username"] for row in response.json] == ["bos"]
    assert "nik" not in response.json[0]
    assert admin.get("/admins", query_string={"q": "tidak ada"}).json == []


def test_an_administrator_is_created_from_a_form_with_a_picture(admin: Client) -> None:
    data = {**FORM, "nomor_hp": "081277778888", "image": (BytesIO(plain("PNG")), "rina.png")}
    response = admin.post("/admins/", data=data)
    assert response.status_code == 201, response.json
    assert response.json["username"] == "rina.wijaya"
    assert response.json["role"] == "admin"
    assert response.json["image"].startswith("/media/")
    assert admin.get("/admins/audit?action=admin_created").json[0]["details"]["username"] == "rina.wijaya"
    logged_in = admin.post("/login", {"username": FORM["email"], "password": PASSWORD})
    assert admin.with_token(logged_in.json["access_token"]).get("/admins/").status_code == 200


@pytest.mark.parametrize(
    ("email", "username"),
    [
        ("rina@contoh.id", "rina2"),
        ("rina+kantor@contoh.id", "rina2"),
        ("users@contoh.id", "admin.users"),
        ("12@contoh.id", "admin.12"),
        ("é@contoh.id", "admin"),
    ],
)
def test_a_username_is_derived_from_the_email(admin: Client, email: str, username: str) -> None:
    make_user(username="Rina")
    assert admin.post("/admins/", {**FORM, "email": email, "username": ""}).json["username"] == username


def test_two_administrators_of_one_name_are_created_at_once(committed: Flask) -> None:
    with unit_of_work():
        bos = make_admin(username="bos")
        by = Caller(bos.id, frozenset(bos.role_names), uuid4(), SessionKind.USER)
    emails = ["rina@contoh.id", "rina@lain.id"]
    done_twice_at_once(
        committed,
        lambda: admins.create({"email": emails.pop(), "password": PASSWORD, "nama_ktp": "Rina"}, by),
    ).result()
    assert db.session.scalars(sa.select(User.username).order_by(User.id)).all() == ["bos", "rina", "rina2"]


def test_a_username_can_be_chosen(admin: Client) -> None:
    assert admin.post("/admins/", {**FORM, "username": "rw_01"}).json["username"] == "rw_01"


@pytest.mark.parametrize("missing", ["email", "password", "nama_ktp"])
def test_email_password_and_name_are_needed(admin: Client, missing: str) -> None:
    body = {name: value for name, value in FORM.items() if name != missing}
    assert_error(admin.post("/admins/", body), 400, "validation_error", missing)


@pytest.mark.parametrize(("field", "value"), [("role", "pasien"), ("nomor_hp", "abc"), ("username", "users")])
def test_bad_input_is_refused_by_name(admin: Client, field: str, value: str) -> None:
    assert_error(admin.post("/admins/", {**FORM, field: value}), 400, "validation_error", field)


def test_an_email_in_use_is_a_conflict(admin: Client) -> None:
    make_user(email="rina.wijaya@contoh.id")
    assert_error(admin.post("/admins/", FORM), 409, "email_taken")


def test_only_a_superadmin_makes_superadmins(admin: Client, superadmin: Client) -> None:
    assert_error(admin.post("/admins/", {**FORM, "role": "superadmin"}), 403, "superadmin_only")
    response = superadmin.post("/admins/", {**FORM, "role": "superadmin"})
    assert response.status_code == 201
    assert response.json["role"] == "superadmin"


@pytest.mark.parametrize("username", ["rina", "RINA"])
def test_an_administrator_is_found_by_username(admin: Client, username: str) -> None:
    make_admin(username="rina")
    assert admin.get(f"/admins/{username}").json["username"] == "rina"


@pytest.mark.parametrize("username", ["siti", "tidakada", "12", "%00", "ü"])
def test_who_is_no_administrator_is_not_found(admin: Client, username: str) -> None:
    make_user(username="siti")
    assert_error(admin.get(f"/admins/{username}"), 404)


def test_an_edit_changes_what_it_names(admin: Client) -> None:
    rina = make_admin(username="rina", email="rina@contoh.id")
    response = admin.put(f"/admins/{rina.id}", data={"nama_ktp": "Rina W.", "nomor_hp": ""})
    assert response.status_code == 200, response.json
    assert response.json["nama_ktp"] == "Rina W."
    assert response.json["nomor_hp"] is None
    assert response.json["email"] == "rina@contoh.id"
    row = admin.get("/admins/audit?action=user_changed").json[0]
    assert row["details"] == {"username": "rina", "fields": ["nama_ktp", "nomor_hp"]}


def test_the_form_of_who_has_no_email_and_number_can_be_sent_back(admin: Client) -> None:
    first = make_admin(username="pertama", email=None, nomor_hp=None)
    form = {"username": "pertama", "email": "", "nomor_hp": "", "password": "", "nama_ktp": "Yang Pertama"}
    response = admin.put(f"/admins/{first.id}", data=form, content_type="multipart/form-data")
    assert response.status_code == 200, response.json
    assert (response.json["nama_ktp"], response.json["email"]) == ("Yang Pertama", None)


def test_a_new_password_ends_the_sessions_of_the_administrator(admin: Client, client: Client) -> None:
    rina = make_admin()
    theirs = client.as_(rina)
    assert admin.put(f"/admins/{rina.id}", {"password": "sandi-baru"}).status_code == 200
    assert_error(theirs.get("/profile"), 401, "session_ended")


def test_a_role_is_changed_by_a_superadmin_alone(admin: Client, superadmin: Client) -> None:
    rina = make_admin()
    assert_error(admin.put(f"/admins/{rina.id}", {"role": "superadmin"}), 403, "superadmin_only")
    assert superadmin.put(f"/admins/{rina.id}", {"role": "superadmin"}).json["role"] == "superadmin"
    assert_error(admin.put(f"/admins/{rina.id}", {"nama_ktp": "X"}), 403, "superadmin_only")
    assert_error(admin.delete(f"/admins/{rina.id}"), 403, "superadmin_only")


def test_an_ordinary_person_is_no_administrator_to_edit_or_delete(admin: Client) -> None:
    siti = make_user()
    assert_error(admin.put(f"/admins/{siti.id}", {"nama_ktp": "X"}), 404)
    assert_error(admin.delete(f"/admins/{siti.id}"), 404)
    assert_error(admin.delete("/admins/999999"), 404)


def test_deleting_an_administrator_ends_their_sessions(admin: Client, client: Client) -> None:
    rina = make_admin(username="rina")
    rina_id, theirs = rina.id, client.as_(rina)
    assert admin.delete(f"/admins/{rina_id}").status_code == 200
    assert db.session.get(User, rina_id) is None
    assert_error(theirs.get("/profile"), 401)
    row = admin.get("/admins/audit?action=deleted").json[0]
    assert (row["actor"], row["details"]) == ("bos", {"username": "rina", "roles": ["admin"]})


def test_nobody_deletes_the_own_account(admin: Client, me: str) -> None:
    make_admin()
    own = admin.get(f"/admins/{me}").json["id"]
    assert_error(admin.delete(f"/admins/{own}"), 409, "own_account")


def test_the_last_administrator_is_not_deleted(superadmin: Client) -> None:
    only = make_admin()
    assert_error(superadmin.delete(f"/admins/{only.id}"), 409, "last_admin")


@pytest.mark.parametrize("role", [RoleName.PASIEN, RoleName.PENDAMPING])
def test_others_administer_nothing(client: Client, role: RoleName) -> None:
    stranger = client.as_(make_user(role))
    assert_error(stranger.get("/admins/"), 403)
    assert_error(stranger.post("/admins/", FORM), 403)
    assert_error(stranger.delete("/admins/1"), 403)
