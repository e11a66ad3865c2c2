"""Conversion of phone numbers, and the interpretation of a login text."""

import re

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import credentials, phones
from app.identity.models import User
from app.notifications.models import Delivery
from tests.accounts.registration import SITI
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user

#: Texts that contain a number and something else. They are not valid phone numbers.
NO_NUMBERS = ["siti081311112222", "<b>081311112222", "081311112222 ext. 5", "tel:081311112222", "081311112222;ext=5",
              "0813/1111/2222", "٠٨١٣١١١١٢٢٢٢", "081311112222\n", "wa.me/6281311112222"]  # fmt: skip


WRITTEN = ["081311112222", "+62 813-1111-2222", "(0813) 1111.2222", "62 (0)813 1111 2222"]
#: Numbers as contact lists and chats copy them: with invisible characters, other dashes and other blanks.
PASTED = [f"{mark}0813-1111-2222{mark}" for mark in (
    "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2060",
    "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\ufe0e", "\ufe0f", "\u00ad", "\u061c",
)]  # fmt: skip
PASTED += [f"0813{dash}1111{dash}2222" for dash in "\u2010\u2011\u2012\u2013\u2014\u2015\ufe58\ufe63\uff0d\u2212"]
PASTED += [
    "\u202a+62\u00a0813\u20111111\u20112222\u202c",
    "\u2068 0813\u202f1111\u20092222 \u2069",
    "0\ufe0f81311112222",
]


def test_a_number_is_normalised_only_if_it_has_nothing_but_the_characters_of_one():
    expected = {**dict.fromkeys((*WRITTEN, *PASTED), "+6281311112222"), **dict.fromkeys(NO_NUMBERS)}
    assert {text: phones.normalise(text) for text in expected} == expected


def test_a_pasted_phone_number_is_stored_without_what_nobody_can_see(client):
    user = make_user()
    person = client.as_(user)
    for text in PASTED[-3:]:
        assert person.put("/profile", {"nomor_hp": text}).status_code == 200
        assert user.phone == "+6281311112222"
        assert re.fullmatch(r"[0-9+ -]+", str(user.nomor_hp)), text
        assert user.nomor_hp == str(user.nomor_hp).strip()


def test_a_pasted_phone_number_registers_logs_in_and_resets_the_password(client):
    response = client.post("/register", {**SITI, "password": PASSWORD, "nomor_hp": "\u2068081311112222\u2069"})
    assert response.status_code == 201, response.text
    assert db.session.scalars(sa.select(User.nomor_hp)).one() == "081311112222"
    pasted = "\u202a+62 813\u20111111\u20112222\u202c"
    assert client.post("/login", {"username": pasted, "password": PASSWORD}).status_code == 200
    assert client.get("/send-verification-code", query_string={"phone": pasted}).status_code == 200
    targets = db.session.scalars(sa.select(Delivery.target).filter_by(kind="password_reset")).all()
    assert targets == ["+6281311112222"]


def test_administrators_find_people_and_administrators_by_a_pasted_phone_number(superadmin):
    make_user(username="siti", nomor_hp="0813-1111-2222")
    make_user(username="budi", nomor_hp="081999999999")
    make_admin(username="rina2", nomor_hp="0812-3333-4444")
    for path, found, queries in (
        (
            "/admins/users",
            "siti",
            ("\u202a0813-1111-2222\u202c", "0813\u20111111", "0813 1111 2222", "+62 813 1111 2222"),
        ),
        ("/admins", "rina2", ("\u202a0812-3333-4444\u202c", "0812\u20113333")),
    ):
        for q in queries:
            assert [row["username"] for row in superadmin.get(path, query_string={"q": q}).json] == [found], q


def test_a_username_that_contains_a_phone_number_logs_in_its_owner(client):
    owner = make_user(username="siti081311112222", nomor_hp="081999999999", password="milik-siti-1")
    make_user(username="budi", nomor_hp="081311112222")
    body = {"username": "siti081311112222", "password": "milik-siti-1"}
    assert client.post("/login", body).status_code == 200
    assert_error(client.post("/login", {**body, "password": PASSWORD}), 401, "wrong_credentials")
    assert credentials.by_login("Siti081311112222") is owner
