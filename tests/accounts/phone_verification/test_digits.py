"""Verification of a number by six digits: who gets the digits, and how many tries there are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.identity.models import PhoneVerification
from app.notifications.models import Channel, DeliveryState
from tests.accounts.phone_verification.proofs import E164, NEW, PATH, digits, expire, messages
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of


def test_the_code_is_sent_only_as_a_message_to_the_number(owner: Client) -> None:
    digits(owner, nomor_hp=NEW)
    (message,) = messages("phone_code")
    assert (message.target, message.user_id, message.channel) == (E164[NEW], None, Channel.MESSAGING)
    assert abs(message.expires_at - message.due_at - timedelta(minutes=15)) < timedelta(seconds=5)
    assert_readable(str(words_of(message)["text"]))


def test_a_new_code_cancels_the_message_with_the_older_code(owner: Client) -> None:
    first, second = digits(owner), digits(owner)
    assert [message.state for message in messages("phone_code")] == [DeliveryState.CANCELLED, DeliveryState.PENDING]
    if first != second:
        assert_error(owner.put(PATH, {"code": first}), 400, "invalid_code")
    assert owner.put(PATH, {"code": second}).status_code == 200


def test_an_expired_code_is_refused(owner: Client) -> None:
    code = digits(owner)
    expire()
    assert_error(owner.put(PATH, {"code": code}), 400, "invalid_code")


def test_the_right_code_is_refused_after_five_wrong_codes(really: Client) -> None:
    code = digits(really)
    for n in range(5):
        assert_error(really.put(PATH, {"code": f"{(int(code) + n + 1) % 10**6:06d}"}), 400, "invalid_code")
    assert_error(really.put(PATH, {"code": code}), 400, "invalid_code")
    assert really.get("/profile").json["phone_verified_at"] is None


def test_the_right_code_is_accepted_after_four_wrong_codes(really: Client) -> None:
    code = digits(really)
    for n in range(4):
        assert_error(really.put(PATH, {"code": f"{(int(code) + n + 1) % 10**6:06d}"}), 400, "invalid_code")
    assert really.put(PATH, {"code": code}).status_code == 200


@pytest.mark.slow
def test_a_thousand_guesses_do_not_verify_the_number(really: Client) -> None:
    """After five wrong codes, the right code fails too."""
    code = digits(really)
    guesses = [f"{(int(code) + n) % 10**6:06d}" for n in range(-900, 100)]
    assert {really.put(PATH, {"code": guess}).status_code for guess in guesses} == {400}
    assert really.get("/profile").json["phone_verified_at"] is None


def test_concurrent_wrong_codes_use_up_the_allowed_tries(really: Client, committed: Flask) -> None:
    code = digits(really)
    wrong = [f"{(int(code) + n) % 10**6:06d}" for n in range(1, 9)]
    headers = {"Authorization": f"Bearer {really.token}"}

    def guess(tried: str) -> int:
        return committed.test_client().put(f"/api{PATH}", json={"code": tried}, headers=headers).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(guess, wrong)) == {400}
    assert db.session.scalars(sa.select(PhoneVerification.tries)).one() == 5


def test_the_code_of_another_user_is_refused(client: Client, owner: Client) -> None:
    code = digits(owner)
    assert_error(client.as_(make_user()).put(PATH, {"code": code}), 400, "invalid_code")
    assert owner.put(PATH, {"code": code}).status_code == 200


def test_a_fourth_code_to_one_number_is_rate_limited_for_all_accounts(client: Client, limited: None) -> None:
    for n in range(4):
        response = client.as_(make_user()).post(PATH, {"method": "code", "nomor_hp": NEW})
        assert response.status_code == (201 if n < 3 else 429)
    assert len(messages("phone_code")) == 3
    assert client.as_(make_user()).post(PATH, {"method": "code"}).status_code == 201
