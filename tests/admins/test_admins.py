"""Tests of how administrators create, change and delete other administrators."""

from __future__ import annotations

from uuid import uuid4

import pytest
import sqlalchemy as sa
from flask import Flask

from app.admins.service import admins
from app.core.database.session import db, unit_of_work
from app.identity.models import SessionKind, User
from app.identity.sessions import Caller
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin
from tests.helpers.overlap import done_twice_at_once

FORM = {"email": "Rina.Wijaya@contoh.id", "password": PASSWORD, "nama_ktp": "Rina Wijaya"}


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
    assert admin.post("/admins/", {**FORM, "email": email, "username": ""}).json["username"] == username


def test_concurrently_created_administrators_get_different_usernames(committed: Flask) -> None:
    with unit_of_work():
        bos = make_admin(username="bos")
        by = Caller(bos.id, frozenset(bos.role_names), uuid4(), SessionKind.USER)
    emails = ["rina@contoh.id", "rina@lain.id"]
    done_twice_at_once(
        committed,
        lambda: admins.create({"email": emails.pop(), "password": PASSWORD, "nama_ktp": "Rina"}, by),
    ).result()
    assert db.session.scalars(sa.select(User.username).order_by(User.id)).all() == ["bos", "rina", "rina2"]


def test_a_form_with_empty_email_and_phone_is_accepted(admin: Client) -> None:
    first = make_admin(username="pertama", email=None, nomor_hp=None)
    form = {"username": "pertama", "email": "", "nomor_hp": "", "password": "", "nama_ktp": "Yang Pertama"}
    response = admin.put(f"/admins/{first.id}", data=form, content_type="multipart/form-data")
    assert response.status_code == 200, response.json
    assert (response.json["nama_ktp"], response.json["email"]) == ("Yang Pertama", None)


def test_changing_the_password_ends_the_administrators_sessions(admin: Client, client: Client) -> None:
    rina = make_admin()
    theirs = client.as_(rina)
    assert admin.put(f"/admins/{rina.id}", {"password": "sandi-baru"}).status_code == 200
    assert_error(theirs.get("/profile"), 401, "session_ended")
