"""Tests of the verification of a phone number by a message from it, and of requests for both methods."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import jobs, verification
from app.accounts.verification import Proof
from app.core.database.session import db
from app.identity.models import PHONE_IS_PROVEN, PhoneVerification, User
from tests.accounts.phone_verification.proofs import E164, NEW, OWN, PATH, ask, digits, expire, messages, write
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.helpers.overlap import done_twice_at_once
from tests.notifications.deliveries import words_of


def is_proven(user: Client) -> bool:
    return bool(db.session.scalar(sa.select(PHONE_IS_PROVEN).where(User.id == user.id)))


# --- by the person's own message ------------------------------------------------------------------------------------


def test_a_number_is_unproven_at_first(owner: Client) -> None:
    assert owner.get("/profile").json["phone_verified_at"] is None
    assert not is_proven(owner)


def test_the_word_from_the_own_number_proves_it(owner: Client) -> None:
    code = ask(owner)["code"]
    assert re.fullmatch("[2-9A-HJKMNP-Z]{6}", code)
    assert write(code) is Proof.PROVEN
    assert owner.get("/profile").json["phone_verified_at"] is not None
    assert is_proven(owner)
    assert messages("security_notice") == []


def test_the_link_opens_a_chat_with_the_word_in_it(owner: Client, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(owner)["link"] is None
    config = replace(app.extensions["config"], messaging_number="+628110000000")
    monkeypatch.setitem(app.extensions, "config", config)
    asked = ask(owner)
    assert asked["link"] == f"https://wa.me/628110000000?text=VERIFIKASI%20{asked['code']}"


def test_where_nobody_hears_people_they_get_six_digits(
    owner: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert owner.post(PATH, {}).json["code"] is None
    config = replace(app.extensions["config"], fonnte_webhook_token="x" * 32)
    monkeypatch.setitem(app.extensions, "config", config)
    assert owner.post(PATH, {}).json["code"] is not None


def test_small_letters_and_blanks_make_no_difference(owner: Client) -> None:
    code = ask(owner)["code"].lower()
    assert write(f" {code[:3]} {code[3:]}") is Proof.PROVEN


def test_a_code_works_once(owner: Client) -> None:
    code = ask(owner)["code"]
    assert [write(code), write(code)] == [Proof.PROVEN, Proof.UNKNOWN_CODE]


def test_a_code_lives_15_minutes(owner: Client) -> None:
    code = ask(owner)["code"]
    lifetime = sa.select(PhoneVerification.expires_at - PhoneVerification.created_at)
    assert abs(db.session.scalars(lifetime).one() - timedelta(minutes=15)) < timedelta(seconds=5)
    expire()
    assert write(code) is Proof.UNKNOWN_CODE
    assert not is_proven(owner)


def test_what_nobody_finished_is_forgotten(owner: Client) -> None:
    ask(owner)
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 1
    expire()
    db.session.commit()
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 0


def test_a_new_code_ends_the_one_before(owner: Client) -> None:
    first, second = ask(owner)["code"], ask(owner)["code"]
    assert [write(first), write(second)] == [Proof.UNKNOWN_CODE, Proof.PROVEN]


def test_a_code_from_another_number_proves_nothing(owner: Client) -> None:
    code = ask(owner)["code"]
    assert write(code, NEW) is Proof.UNKNOWN_CODE
    assert not is_proven(owner)
    assert write(code) is Proof.PROVEN


def test_no_code_is_stored(owner: Client) -> None:
    code, six = ask(owner)["code"], digits(owner)
    stored = [
        str(value) for row in db.session.execute(sa.select(PhoneVerification.__table__)) for value in row if value
    ]
    assert not [value for value in stored if code in value or six in value]


def test_a_code_that_is_used_twice_at_once_counts_once(really: Client, committed: Flask) -> None:
    code, proofs = ask(really)["code"], []
    done_twice_at_once(committed, lambda: proofs.append(verification.confirm_by_message(E164[OWN], code))).result()
    assert proofs == [Proof.PROVEN, Proof.UNKNOWN_CODE]


# --- another number -------------------------------------------------------------------------------------------------


def test_a_new_number_moves_when_it_is_proven(owner: Client) -> None:
    code = ask(owner, nomor_hp=NEW)["code"]
    assert owner.get("/profile").json["nomor_hp"] == OWN
    assert write(code, NEW) is Proof.PROVEN
    profile = owner.get("/profile").json
    assert (profile["nomor_hp"], profile["phone_verified_at"] is not None) == (NEW, True)
    told = {message.target: str(words_of(message)["text"]) for message in messages("security_notice")}
    assert set(told) == {E164[OWN], E164[NEW]}
    assert all("nomor HP" in text for text in told.values())


def test_a_changed_number_is_unproven(owner: Client) -> None:
    write(ask(owner)["code"])
    assert owner.put("/profile", {"nomor_hp": "0812-3456-7890"}).json["phone_verified_at"] is not None
    assert owner.put("/profile", {"nomor_hp": NEW}).json["phone_verified_at"] is None


def test_a_number_that_was_called_invalid_is_valid_once_it_is_proven(owner: Client) -> None:
    owner.user.phone_invalid_at = owner.user.created_at
    write(ask(owner)["code"])
    db.session.refresh(owner.user)
    assert owner.user.phone_invalid_at is None


def test_whoever_has_no_number_names_one(client: Client) -> None:
    nobody = client.as_(make_user(nomor_hp=None))
    assert_error(nobody.post(PATH, {}), 400, "validation_error", "nomor_hp")
    assert write(ask(nobody, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN


def test_a_stolen_session_needs_the_password_where_a_change_does(
    owner: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(app.extensions["config"], profile_reauth="required")
    monkeypatch.setitem(app.extensions, "config", config)
    assert_error(owner.post(PATH, {"nomor_hp": NEW}), 400, "current_password_required")
    assert_error(owner.post(PATH, {"nomor_hp": NEW, "current_password": "x"}), 400, "wrong_current_password")
    ask(owner, nomor_hp=NEW, current_password=PASSWORD)
    ask(owner)
