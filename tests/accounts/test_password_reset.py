"""Tests of password reset links."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import PasswordReset
from app.notifications.models import DeliveryState
from tests.accounts.resets import PHONE, ask, messages
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD


@pytest.mark.parametrize("phone", ["+62 812-3456-7890", "6281234567890", "0812 3456 7890"])
def test_a_reset_link_for_any_spelling_is_sent_to_the_normalized_number(
    client: Client, owner: Client, phone: str
) -> None:
    ask(client, phone)
    (message,) = messages()
    assert message.target == "+6281234567890"
    assert message.user_id == owner.id
    assert message.state == DeliveryState.PENDING


def test_known_and_unknown_numbers_need_the_same_number_of_statements(
    client: Client, owner: Client, statements: object
) -> None:
    counts = []
    for phone in (PHONE, "081999999999"):
        before = len(statements.seen)
        client.get("/send-verification-code", query_string={"phone": phone})
        counts.append(len(statements.seen) - before)
    assert counts[0] == counts[1]


def test_a_second_link_invalidates_the_first_and_cancels_its_delivery(client: Client, owner: Client) -> None:
    first, second = ask(client), ask(client)
    assert [message.state for message in messages()] == [DeliveryState.CANCELLED, DeliveryState.PENDING]
    assert_error(client.post("/update-password", {"code": first, "new_password": "baru123"}), 400, "invalid_code")
    assert client.post("/update-password", {"code": second, "new_password": "baru123"}).status_code == 200


def test_a_password_change_in_the_profile_invalidates_the_reset_link(client: Client, owner: Client) -> None:
    """A person who found the lost phone requested the link. The owner then changed the password."""
    code = ask(client)
    assert client.as_(owner.user).put("/profile", {"password": "baru-sekali"}).status_code == 200
    assert_error(client.post("/update-password", {"code": code, "new_password": "maling123"}), 400, "invalid_code")
    assert credentials.authenticate("siti", "baru-sekali") is not None


@pytest.mark.parametrize("way", ["logout", "from afar"])
def test_ending_a_session_invalidates_an_open_reset_link(client: Client, owner: Client, way: str) -> None:
    own = client.as_(owner.user)
    code = ask(client)
    if way == "logout":
        assert owner.post("/logout").status_code == 200
    else:
        other = next(row["id"] for row in own.get("/profile/sesi").json if not row["current"])
        assert own.delete(f"/profile/sesi/{other}").status_code == 200
    assert_error(client.post("/update-password", {"code": code, "new_password": "maling123"}), 400, "invalid_code")
    assert client.post("/update-password", {"code": ask(client), "new_password": "baru123"}).status_code == 200


def test_a_reset_link_expires_after_30_minutes(client: Client, owner: Client) -> None:
    code = ask(client)
    reset = db.session.scalars(db.select(PasswordReset)).one()
    assert abs(reset.expires_at - messages()[0].due_at - timedelta(minutes=30)) < timedelta(seconds=5)
    reset.expires_at -= timedelta(minutes=31)
    db.session.flush()
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru123"}), 400, "invalid_code")
    assert credentials.authenticate("siti", PASSWORD) is not None


def test_the_reset_code_is_stored_hashed(client: Client, owner: Client) -> None:
    code = ask(client)
    assert code not in db.session.scalars(db.select(PasswordReset.token_hash)).one()
