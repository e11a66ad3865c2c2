"""Verification of a phone number that another account already has.

The person who verifies the number may or may not own the number.

A squatter is a user who registered with another person's number.
"""

import pytest
import sqlalchemy as sa

from app.accounts.verification import Proof
from app.core.database.session import db
from app.identity import credentials
from app.identity.models import PasswordReset
from tests.accounts.phone_verification.proofs import E164, NEW, OWN, ask, messages, write
from tests.accounts.resets import ask as ask_for_reset
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user


@pytest.fixture
def squatter(client):
    """A squatter: a user who registered with another person's number."""
    return make_user(username="penumpang", nomor_hp=NEW, email="penumpang@contoh.id")


def test_the_owner_takes_the_number_and_the_squatter_keeps_the_login(client, owner, squatter):
    before = client.as_(squatter)
    assert_error(owner.put("/profile", {"nomor_hp": NEW}), 409, "phone_taken")
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN
    theirs = before.get("/profile").json
    assert (theirs["nomor_hp"], theirs["email"]) == (None, "penumpang@contoh.id")
    assert client.post("/login", {"username": "penumpang", "password": PASSWORD}).status_code == 200
    assert owner.get("/profile").json["nomor_hp"] == NEW
    assert credentials.by_login(NEW) == credentials.by_login("siti")


def test_the_new_owner_cannot_use_reset_links_or_get_notices_of_the_squatter(client, owner, squatter):
    """The new owner must not get a reset link, or any other message, for the squatter's account."""
    code = ask_for_reset(client, NEW)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru-sekali"}), 400, "invalid_code")
    assert db.session.scalars(sa.select(PasswordReset)).all() == []
    assert not [row for row in messages("security_notice") if row.user_id == squatter.id and row.target == E164[NEW]]


def test_deleting_the_account_ends_an_open_verification(client, owner):
    code = ask(owner, nomor_hp=NEW)["code"]
    assert owner.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    assert write(code, NEW) is Proof.UNKNOWN_CODE


@pytest.mark.parametrize("way", ["profile", "reset", "logout"])
def test_a_new_password_and_a_logout_end_the_verification_that_the_session_opened(client, owner, way):
    """A thief may have started the verification with a stolen session.

    If the verification stayed open, the thief could set their own number after the owner has changed the password.
    """
    code = ask(owner, nomor_hp=NEW)["code"]
    if way == "profile":
        assert owner.put("/profile", {"password": "baru-sekali"}).status_code == 200
    elif way == "reset":
        link = ask_for_reset(client, OWN)
        assert client.post("/update-password", {"code": link, "new_password": "baru-sekali"}).status_code == 200
    else:
        assert owner.post("/logout").status_code == 200
    assert write(code, NEW) is Proof.UNKNOWN_CODE
    assert (owner.user.phone, owner.user.phone_verified_at) == (E164[OWN], None)


def test_a_repeated_verification_belongs_to_the_latest_session(client, owner):
    first = client.as_(owner.user)
    ask(first, nomor_hp=NEW)
    code = ask(owner, nomor_hp=NEW)["code"]
    assert first.post("/logout").status_code == 200
    assert write(code, NEW) is Proof.PROVEN


def test_known_and_unknown_numbers_get_the_same_fields_and_statement_count(owner, squatter, statements):
    costs, bodies = [], []
    for phone in (NEW, "081999999999"):
        before = len(statements.seen)
        asked = ask(owner, nomor_hp=phone)
        costs.append(len(statements.seen) - before)
        bodies.append({name: type(value) for name, value in asked.items()})
    assert costs[0] == costs[1]
    assert bodies[0] == bodies[1]
