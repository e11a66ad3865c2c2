"""Forgotten passwords."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import PasswordReset, User
from app.notifications.models import Delivery, State
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user

PHONE = "081234567890"


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(username="siti", nomor_hp=PHONE)


def messages() -> list[Delivery]:
    return list(db.session.scalars(db.select(Delivery).order_by(Delivery.id)).all())


def code_in(delivery: Delivery) -> str:
    match = re.search(r"/reset-password\?code=([\w-]+)", delivery.payload["text"])
    assert match
    return match[1]


def ask(client: Client, phone: str = PHONE) -> str:
    assert client.get("/send-verification-code", query_string={"phone": phone}).status_code == 200
    return code_in(messages()[-1])


def test_the_link_sets_a_new_password_once_and_ends_every_session(client: Client, siti: User) -> None:
    device = client.as_(siti)
    code = ask(client)
    body = {"code": code, "new_password": "baru123"}
    response = client.post("/update-password", body)
    assert response.status_code == 200
    assert response.json["message"]
    assert credentials.authenticate("siti", "baru123") is not None
    assert_error(device.get("/profile"), 401, "session_ended")
    assert_error(client.post("/update-password", body), 400, "invalid_code")


@pytest.mark.parametrize("phone", ["+62 812-3456-7890", "6281234567890", "0812 3456 7890"])
def test_the_number_may_have_any_form_and_the_message_goes_to_the_normal_one(
    client: Client, siti: User, phone: str
) -> None:
    ask(client, phone)
    (message,) = messages()
    assert message.target == "+6281234567890"
    assert message.user_id == siti.id
    assert message.state == State.PENDING


def test_an_unknown_number_gets_the_same_response_and_no_message(client: Client, siti: User) -> None:
    known = client.get("/send-verification-code", query_string={"phone": PHONE})
    unknown = client.get("/send-verification-code", query_string={"phone": "081999999999"})
    assert (known.status_code, known.json) == (unknown.status_code, unknown.json)
    assert [message.state for message in messages()] == [State.PENDING, State.CANCELLED]
    assert db.session.scalars(db.select(PasswordReset.user_id)).all() == [siti.id]


def test_known_and_unknown_numbers_cost_the_same_statements(client: Client, siti: User, statements: object) -> None:
    counts = []
    for phone in (PHONE, "081999999999"):
        before = len(statements.seen)
        client.get("/send-verification-code", query_string={"phone": phone})
        counts.append(len(statements.seen) - before)
    assert counts[0] == counts[1]


def test_a_second_link_makes_the_first_useless_and_cancels_its_message(client: Client, siti: User) -> None:
    first, second = ask(client), ask(client)
    assert [message.state for message in messages()] == [State.CANCELLED, State.PENDING]
    assert_error(client.post("/update-password", {"code": first, "new_password": "baru123"}), 400, "invalid_code")
    assert client.post("/update-password", {"code": second, "new_password": "baru123"}).status_code == 200


def test_a_password_that_is_changed_otherwise_makes_the_link_useless(client: Client, siti: User) -> None:
    """Whoever holds the lost phone asked for it, and the owner has been quicker."""
    code = ask(client)
    assert client.as_(siti).put("/profile", {"password": "baru-sekali"}).status_code == 200
    assert_error(client.post("/update-password", {"code": code, "new_password": "maling123"}), 400, "invalid_code")
    assert credentials.authenticate("siti", "baru-sekali") is not None


def test_a_link_lives_30_minutes(client: Client, siti: User) -> None:
    code = ask(client)
    reset = db.session.scalars(db.select(PasswordReset)).one()
    assert abs(reset.expires_at - messages()[0].due_at - timedelta(minutes=30)) < timedelta(seconds=5)
    reset.expires_at -= timedelta(minutes=31)
    db.session.flush()
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru123"}), 400, "invalid_code")
    assert credentials.authenticate("siti", PASSWORD) is not None


def test_the_code_is_stored_hashed(client: Client, siti: User) -> None:
    code = ask(client)
    assert code not in db.session.scalars(db.select(PasswordReset.token_hash)).one()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "code"),
        ({"code": "x"}, "new_password"),
        ({"code": "x", "new_password": "lima5"}, "new_password"),
        ({"code": 5, "new_password": "rahasia"}, "code"),
    ],
)
def test_a_reset_without_code_or_good_password_is_bad_input(client: Client, body: object, field: str) -> None:
    assert_error(client.post("/update-password", body), 400, "validation_error", field)


def test_an_unknown_code_is_refused(client: Client) -> None:
    assert_error(client.post("/update-password", {"code": "x", "new_password": "baru123"}), 400, "invalid_code")


@pytest.mark.parametrize("query", [{}, {"phone": ""}, {"phone": "bukan nomor"}])
def test_a_link_needs_a_phone_number(client: Client, query: dict[str, str]) -> None:
    assert_error(client.get("/send-verification-code", query_string=query), 400, "validation_error", "phone")
