"""Phone numbers that answered SALAH NOMOR ("wrong number") and are therefore flagged as wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import verification
from app.accounts.verification import Proof, WrongNumber
from app.core.database.session import db
from app.identity.models import User
from app.notifications.models import DeliveryState
from app.notifications.senders import numbers
from app.notifications.senders.models import phone_numbers
from tests.accounts.phone_verification.proofs import (
    E164,
    NEW,
    OWN,
    PATH,
    ask,
    digits,
    messages,
    number_of,
    pushes,
    refuse,
    take_long_ago,
    use,
    write,
)
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of


def problem(client: Client) -> str | None:
    found: str | None = client.get("/profile").json["phone_problem"]
    return found


@pytest.fixture
def wrong(owner: Client) -> Client:
    """Siti, whose number is flagged as wrong because it answered SALAH NOMOR."""
    assert refuse(OWN) is False
    return owner


# --- the account ----------------------------------------------------------------------------------------------------


def test_a_wrong_number_reply_flags_the_profile_and_ends_the_verification(owner: Client) -> None:
    write(ask(owner)["code"])
    assert (problem(owner), number_of(owner)) == (None, (OWN, True))
    refuse(OWN)
    assert (problem(owner), number_of(owner)) == ("wrong_number", (OWN, False))
    assert owner.put("/profile", {"nama_ktp": "Siti A."}).json["phone_problem"] == "wrong_number"


def test_the_account_is_notified_once_by_push(wrong: Client) -> None:
    refuse(OWN)
    assert pushes() == [(wrong.id, "number_wrong")]
    (told,) = messages("security_notice")
    assert_readable(str(words_of(told)["body"]))


def test_an_invalid_number_is_shown_as_unreachable(owner: Client) -> None:
    owner.user.phone_invalid_at = owner.user.created_at
    assert problem(owner) == "unreachable"


def test_the_flag_stays_on_the_wrong_number_after_a_change_of_number(wrong: Client) -> None:
    wrong.put("/profile", {"nomor_hp": NEW})
    assert problem(wrong) is None
    wrong.put("/profile", {"nomor_hp": OWN})
    assert problem(wrong) == "wrong_number"


def test_an_account_that_takes_the_number_later_sees_the_flag(client: Client, wrong: Client) -> None:
    wrong.put("/profile", {"nomor_hp": NEW})
    assert problem(client.as_(make_user(nomor_hp=OWN))) == "wrong_number"


def test_an_account_without_a_number_has_no_phone_problem(client: Client) -> None:
    assert problem(client.as_(make_user(nomor_hp=None))) is None


@pytest.mark.parametrize("method", ["message", "code"])
def test_a_verification_removes_the_flag(wrong: Client, method: str) -> None:
    if method == "message":
        assert write(ask(wrong)["code"]) is Proof.PROVEN
    else:
        assert wrong.put(PATH, {"code": digits(wrong)}).json["phone_problem"] is None
    assert (problem(wrong), number_of(wrong)) == (None, (OWN, True))
    refuse(OWN)
    assert [event for _, event in pushes()] == ["number_wrong", "number_wrong"]


def test_a_wrong_number_reply_does_not_end_an_open_verification_by_message(owner: Client) -> None:
    code = ask(owner)["code"]
    refuse(OWN)
    assert write(code) is Proof.PROVEN


# --- codes ----------------------------------------------------------------------------------------------------------


def test_the_account_of_a_wrong_number_gets_three_codes_until_it_verifies_it(wrong: Client) -> None:
    for _ in range(3):
        last = digits(wrong)
    assert_error(wrong.post(PATH, {"method": "code"}), 409, "wrong_number")
    assert wrong.put(PATH, {"code": last}).status_code == 200
    refuse(OWN)
    assert digits(wrong)


def test_a_change_of_number_does_not_reset_the_code_limit(client: Client, wrong: Client) -> None:
    for _ in range(3):
        digits(wrong)
    wrong.put("/profile", {"nomor_hp": NEW})
    wrong.put("/profile", {"nomor_hp": OWN})
    assert_error(wrong.post(PATH, {"method": "code"}), 409, "wrong_number")
    wrong.put("/profile", {"nomor_hp": NEW})
    next_one = client.as_(make_user(nomor_hp=OWN))
    assert_error(next_one.post(PATH, {"method": "code"}), 409, "wrong_number")


def test_other_accounts_cannot_send_a_code_to_a_wrong_number(client: Client, wrong: Client) -> None:
    other = client.as_(make_user())
    assert_error(other.post(PATH, {"method": "code", "nomor_hp": OWN}), 409, "wrong_number")
    assert messages("phone_code") == []
    assert ask(other, nomor_hp=OWN)["code"]
    assert_readable(WrongNumber.message)


def test_a_wrong_number_reply_cancels_a_waiting_code(client: Client, owner: Client) -> None:
    digits(client.as_(make_user()), nomor_hp=OWN)
    refuse(OWN)
    assert [row.state for row in messages("phone_code")] == [DeliveryState.CANCELLED]


def test_an_account_has_its_own_limit_of_three_codes_for_its_number(
    client: Client, owner: Client, limited: None
) -> None:
    """Other accounts request codes for a number. These codes do not use up the limit of the number's own account."""
    for n in range(4):
        response = client.as_(make_user()).post(PATH, {"method": "code", "nomor_hp": OWN})
        assert response.status_code == (201 if n < 3 else 429)
    for n in range(4):
        assert owner.post(PATH, {"method": "code"}).status_code == (201 if n < 3 else 429)


# --- reset links ----------------------------------------------------------------------------------------------------


def ask_for_a_link(client: Client) -> str:
    return str(client.get("/send-verification-code", query_string={"phone": OWN}).json["message"])


def open_links() -> int:
    return sum(row.state == DeliveryState.PENDING for row in messages("password_reset"))


def test_a_wrong_number_gets_no_reset_link(client: Client, owner: Client) -> None:
    answer = ask_for_a_link(client)
    assert open_links() == 1
    refuse(OWN)
    assert open_links() == 0
    assert ask_for_a_link(client) == answer
    assert open_links() == 0


def test_a_reset_link_sent_before_the_wrong_number_reply_is_refused(client: Client, owner: Client) -> None:
    ask_for_a_link(client)
    code = str(words_of(messages("password_reset")[0])["text"]).split("code=")[1].split()[0]
    refuse(OWN)
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru-sekali"}), 400, "invalid_code")


@pytest.mark.parametrize(
    ("held", "used", "is_proven", "links"),
    [(89, None, False, 1), (91, None, False, 0), (400, 89, False, 1), (400, 91, False, 0), (400, 91, True, 1)],
)
def test_a_number_unused_for_90_days_gets_a_reset_link_only_if_verified(
    client: Client, owner: Client, *, held: int, used: int | None, is_proven: bool, links: int
) -> None:
    take_long_ago(owner.id, days=held)
    if is_proven:
        write(ask(owner)["code"])
    if used is not None:
        use(OWN, days=used)
    assert ask_for_a_link(client) == ask_for_a_link(client)
    assert open_links() == links


# --- use of a number ------------------------------------------------------------------------------------------------


def used_at() -> object:
    return db.session.scalar(sa.select(phone_numbers.c.used_at).where(phone_numbers.c.phone == E164[OWN]))


def test_a_verification_does_not_count_as_use_of_a_number(owner: Client) -> None:
    write(ask(owner)["code"])
    assert used_at() is None


def test_a_use_before_the_account_was_created_does_not_count(app: Flask, owner: Client) -> None:
    numbers.record_use(E164[OWN])
    assert numbers.is_in_use(owner.id)
    db.session.execute(sa.update(User).values(created_at=sa.func.now() + timedelta(days=1)))
    assert not numbers.is_in_use(owner.id)


def test_verification_messages_are_listed_as_proofs() -> None:
    assert verification.KIND in numbers.PROOFS
