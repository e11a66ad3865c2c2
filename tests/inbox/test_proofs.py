"""Tests of the verification of a phone number by a message with `VERIFIKASI` and a code."""

import pytest
import sqlalchemy as sa

from app.accounts import verification
from app.core.database.session import db
from app.identity.models import User
from app.inbox import texts
from tests.helpers.language import assert_readable
from tests.inbox.phones import Phone


@pytest.fixture(autouse=True)
def hears(live):
    """Configure the service to receive messages."""


def ask(client, **body):
    return str(client.post("/profile/phone/verification", body).ok(201)["code"])


def proven(user_id):
    db.session.expire_all()
    return db.session.scalars(sa.select(User.phone_verified_at.is_not(None)).where(User.id == user_id)).one()


def test_a_code_sent_by_message_verifies_the_phone_number(siti, phone):
    user_id, code = siti.id, ask(siti)
    said = phone.write(f"Verifikasi: {code}.")
    assert (said.outcome, said.text) == (
        "answered:verify proven",
        "Terima kasih. Nomor ini sudah kami pastikan milik Anda.",
    )
    assert proven(user_id)


def test_a_new_number_is_known_only_after_its_verification(siti):
    user_id, code = siti.id, ask(siti, nomor_hp="081277778888")
    new = Phone("+6281277778888")
    assert new.write("BANTUAN").outcome == "unknown sender"
    assert new.write(f"VERIFIKASI {code}").outcome == "answered:verify proven"
    assert proven(user_id)
    assert new.write("BANTUAN").text == texts.HELP


def test_a_wrong_or_missing_code_is_refused(phone):
    for text in ("VERIFIKASI", "VERIFIKASI XXXXXX", "VERIFIKASI " + "A" * 900):
        assert phone.write(text).outcome == "answered:verify unknown_code", text


def test_verification_replies_are_plain_indonesian():
    for text in (verification.PROVEN, verification.UNKNOWN_CODE):
        assert_readable(text)
