"""Calls with a stolen access token. A thief cannot take over the account, and the owner gets notices."""

from datetime import timedelta

import pytest

from app.core.database.session import db
from app.notifications.models import Delivery, DeliveryState
from tests.accounts.resets import ask as ask_for_reset
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.notifications.deliveries import words_of
from tests.routes.requests import undone

PHONE, NEW_PHONE, NEWER_PHONE = "+6281234567890", "+6281311112222", "+6281333334444"


@pytest.fixture
def _required(change_settings):
    change_settings(profile_reauth="required")


def messages(kind="security_notice"):
    """Return the text of the latest pending message of this kind for each recipient."""
    pending = db.select(Delivery).where(Delivery.kind == kind, Delivery.state == DeliveryState.PENDING)
    return {str(row.target): words_of(row).get("text", "") for row in db.session.scalars(pending.order_by(Delivery.id))}


CHANGES = [{"email": "maling@example.com"}, {"email": None}, {"nomor_hp": "081311112222"}, {"password": "baru-sekali"}]


@pytest.mark.usefixtures("_required")
def test_a_change_of_password_email_or_phone_requires_the_current_password(owner):
    for change in CHANGES:
        before = (owner.user.password_hash, owner.user.email, owner.user.phone)
        assert_error(owner.put("/profile", change), 400, "current_password_required")
        wrong = {**change, "current_password": "salah-sekali"}
        assert_error(owner.put("/profile", wrong), 400, "wrong_current_password")
        assert (owner.user.password_hash, owner.user.email, owner.user.phone) == before
        assert owner.put("/profile", {**change, "current_password": PASSWORD}).status_code == 200
        assert (owner.user.password_hash, owner.user.email, owner.user.phone) != before


@pytest.mark.usefixtures("_required")
@pytest.mark.parametrize(
    ("method", "path", "change"),
    [("POST", "/profile/phone/verification", {"nomor_hp": NEW_PHONE}), ("DELETE", "/profile/phone", {})],
)
def test_a_verification_of_a_new_number_and_freeing_the_number_require_it_too(owner, method, path, change):
    assert_error(owner.open(method, path, change), 400, "current_password_required")
    wrong = {**change, "current_password": "salah-sekali"}
    assert_error(owner.open(method, path, wrong), 400, "wrong_current_password")
    assert owner.open(method, path, {**change, "current_password": PASSWORD}).status_code in (200, 201)


@pytest.mark.usefixtures("_required")
def test_a_form_with_unchanged_email_and_phone_needs_no_password(owner):
    form = {"nama_ktp": "Siti A.", "email": "SITI@example.com", "nomor_hp": "+62 812-3456-7890"}
    assert owner.put("/profile", form).status_code == 200
    assert not messages()


def test_blanks_around_the_current_password_are_not_stripped(client):
    as_ani = client.as_(make_user(password=" rahasia ani "))
    body = {"password": "baru-sekali", "current_password": " rahasia ani "}
    stripped = {**body, "current_password": "rahasia ani"}
    assert_error(as_ani.put("/profile", stripped), 400, "wrong_current_password")
    assert as_ani.put("/profile", body).status_code == 200


def test_profile_changes_to_taken_numbers_and_emails_are_rate_limited(owner, limited):
    make_user(nomor_hp="081999999999", email="ani@example.com")
    for _ in range(5):
        assert_error(owner.put("/profile", {"nomor_hp": "081999999999"}), 409, "phone_taken")
        assert_error(owner.put("/profile", {"email": "ani@example.com"}), 409, "email_taken")
    assert_error(owner.put("/profile", {"nomor_hp": "081999999999"}), 429)
    assert_error(owner.put("/profile", {"email": "siapa@example.com"}), 429)
    for _ in range(11):
        assert owner.put("/profile", {"nama_ktp": "S", "nomor_hp": "0812 3456 7890"}).status_code == 200


def test_a_new_number_sends_a_notice_to_the_old_and_the_new_number(owner):
    owner.put("/profile", {"nomor_hp": "081311112222"})
    assert set(messages()) == {PHONE, NEW_PHONE}
    for text in messages().values():
        assert text.startswith("Data akun Anda baru saja diubah: nomor HP.")
        assert "siti" not in text.lower()


def test_a_password_reset_sends_a_notice_to_the_phone_number(client, owner):
    body = {"code": ask_for_reset(client, PHONE), "new_password": "baru-sekali"}
    assert client.post("/update-password", body).status_code == 200
    assert "kata sandi" in messages()[PHONE]


REFUSED = "Permintaan mengatur ulang kata sandi akun Anda ditolak, karena nomor HP akun itu baru saja diganti."

#: What happened, the number before, the numbers that the person set and the hours that passed, whether the last number
#: gets a reset link, and the number that reads of the refusal.
CHANGES_OF_NUMBER = (
    ("a change", PHONE, [NEW_PHONE, 23], False, PHONE),
    ("a day ago", PHONE, [NEW_PHONE, 24], True, None),
    ("several changes", PHONE, [NEW_PHONE, NEWER_PHONE], False, PHONE),
    ("another change after a day", PHONE, [NEW_PHONE, 24, NEWER_PHONE], False, NEW_PHONE),
    ("the original number again", PHONE, [NEW_PHONE, PHONE], True, None),
    ("another spelling", PHONE, ["+62 812-3456-7890"], True, None),
    ("a first number", None, [NEW_PHONE], False, None),
)


def test_for_a_day_a_changed_number_gets_no_reset_link_and_the_one_before_one_notice(client, subtests):
    for what, before, steps, gets_link, told in CHANGES_OF_NUMBER:
        with subtests.test(what), undone():
            user = make_user(nomor_hp=before)
            for step in steps:
                if isinstance(step, int):
                    user.phone_changed_at -= timedelta(hours=step)
                else:
                    assert client.as_(user).put("/profile", {"nomor_hp": step}).json["nomor_hp"] == step
            for _ in range(2):
                query = {"phone": user.nomor_hp}
                assert client.get("/send-verification-code", query_string=query).status_code == 200
                (text,) = messages("password_reset").values()
                assert text.startswith("Gunakan tautan ini") is gets_link
            refused = db.select(Delivery).where(Delivery.payload["event"].astext == "reset_refused")
            notices = [(row.target, words_of(row)["text"]) for row in db.session.scalars(refused)]
            assert notices == ([(told, REFUSED)] if told else [])


def test_who_has_the_number_before_now_does_not_read_of_the_refusal(client, owner):
    owner.put("/profile", {"nomor_hp": NEW_PHONE})
    make_user(nomor_hp=PHONE)
    assert client.get("/send-verification-code", query_string={"phone": NEW_PHONE}).status_code == 200
    assert messages("password_reset") == {NEW_PHONE: ""}
    assert "ditolak" not in str(messages())
