"""Tests of the verification of a phone number by a message from this number.

Other tests cover numbers that other accounts have.
"""

import re
from datetime import timedelta

import sqlalchemy as sa

from app.accounts import jobs
from app.accounts.verification import Proof
from app.core.database.session import db
from app.identity.models import PHONE_IS_PROVEN, PhoneVerification, User
from tests.accounts.phone_verification.proofs import E164, NEW, OWN, PATH, ask, expire, messages, write
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of


def is_proven(user):
    return bool(db.session.scalar(sa.select(PHONE_IS_PROVEN).where(User.id == user.id)))


# --- by the person's own message ------------------------------------------------------------------------------------


def test_a_message_with_the_newest_code_from_the_own_number_verifies_it_once(owner):
    assert not is_proven(owner)
    old, code = ask(owner)["code"], ask(owner)["code"]
    assert re.fullmatch("[2-9A-HJKMNP-Z]{6}", code)
    assert code not in str(db.session.execute(sa.select(PhoneVerification.__table__)).all())
    assert write(old) is Proof.UNKNOWN_CODE
    assert write(f" {code[:3].lower()} {code[3:]}") is Proof.PROVEN
    assert owner.get("/profile").json["phone_verified_at"] is not None
    assert is_proven(owner)
    assert messages("security_notice") == []
    assert write(code) is Proof.UNKNOWN_CODE


def test_the_link_opens_a_chat_with_the_code_in_its_text(owner, change_settings):
    assert ask(owner)["link"] is None
    change_settings(messaging_number="+628110000000")
    asked = ask(owner)
    assert asked["link"] == f"https://wa.me/628110000000?text=VERIFIKASI%20{asked['code']}"


def test_a_code_expires_after_15_minutes(owner):
    code = ask(owner)["code"]
    lifetime = sa.select(PhoneVerification.expires_at - PhoneVerification.created_at)
    assert abs(db.session.scalars(lifetime).one() - timedelta(minutes=15)) < timedelta(seconds=5)
    expire()
    assert write(code) is Proof.UNKNOWN_CODE
    assert not is_proven(owner)


def test_expired_verifications_are_deleted(owner):
    ask(owner)
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 1
    expire()
    db.session.commit()
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 0


def test_a_code_sent_from_another_number_is_refused(owner):
    code = ask(owner)["code"]
    assert write(code, NEW) is Proof.UNKNOWN_CODE
    assert not is_proven(owner)
    assert write(code) is Proof.PROVEN


# --- another number -------------------------------------------------------------------------------------------------


def test_a_new_number_replaces_the_old_number_after_its_verification(owner):
    code = ask(owner, nomor_hp=NEW)["code"]
    assert owner.get("/profile").json["nomor_hp"] == OWN
    assert write(code, NEW) is Proof.PROVEN
    profile = owner.get("/profile").json
    assert (profile["nomor_hp"], profile["phone_verified_at"] is not None) == (NEW, True)
    told = {message.target: str(words_of(message)["text"]) for message in messages("security_notice")}
    assert set(told) == {E164[OWN], E164[NEW]}
    assert all("nomor HP" in text for text in told.values())


def test_a_changed_number_is_unverified(owner):
    write(ask(owner)["code"])
    assert owner.put("/profile", {"nomor_hp": "0812-3456-7890"}).json["phone_verified_at"] is not None
    assert owner.put("/profile", {"nomor_hp": NEW}).json["phone_verified_at"] is None


def test_a_verification_makes_an_invalid_number_valid_again(owner):
    owner.user.phone_invalid_at = owner.user.created_at
    write(ask(owner)["code"])
    db.session.refresh(owner.user)
    assert owner.user.phone_invalid_at is None


def test_an_account_without_a_number_must_name_a_number(client):
    nobody = client.as_(make_user(nomor_hp=None))
    assert_error(nobody.post(PATH, {}), 400, "validation_error", "nomor_hp")
    assert write(ask(nobody, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN
