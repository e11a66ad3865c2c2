"""Tests of password reset links."""

from datetime import timedelta
from threading import Condition

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import PasswordReset
from app.notifications.delivery import sealing
from app.notifications.delivery.drain import Lane
from app.notifications.models import Channel, Delivery, DeliveryState
from app.notifications.senders import numbers
from tests.accounts.resets import PHONE, ask, code_in, messages
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.notifications.deliveries import words_of


def test_a_reset_link_for_any_spelling_is_sent_to_the_normalized_number(client, owner):
    code = ask(client, "+62 812-3456-7890")
    (message,) = messages()
    assert (message.target, message.state) == ("+6281234567890", DeliveryState.PENDING)
    assert words_of(message)["text"] == (
        f"Gunakan tautan ini untuk mengatur ulang kata sandi Anda: http://localhost:5173/reset-password?code={code}\n"
        "Tautan berlaku 30 menit. Abaikan pesan ini bila Anda tidak memintanya."
    )


def test_the_request_does_the_same_for_known_and_unknown_numbers(client, owner, statements):
    """Only the worker decides whether the number gets a link, so the response time reveals nothing."""
    wrong, new = make_user(nomor_hp="081300000001"), make_user(nomor_hp="081300000002")
    numbers.record_wrong(str(wrong.phone))
    assert client.as_(new).put("/profile", {"nomor_hp": "081300000003"}).status_code == 200
    seen = []
    for phone in (PHONE, "081999999999", "081300000001", "081300000003"):
        before = len(statements.seen)
        response = client.get("/send-verification-code", query_string={"phone": phone})
        seen.append((statements.seen[before:], response.json))
    assert all(each == seen[0] for each in seen)
    assert [(row.user_id, row.payload, row.sealed) for row in messages()] == [(None, {}, None)] * 4
    assert [code_in(row) is not None for row in messages()] == [True, False, False, False]


def test_the_owner_sees_the_sent_link_in_the_list_of_deliveries(client, owner):
    ask(client)
    assert [row["title"] for row in owner.get("/pengiriman").json] == ["Tautan atur ulang kata sandi"]


def test_the_sent_link_can_be_read_in_the_outbox_of_development(client, owner, gateway):
    code = ask(client)
    db.session.execute(sa.update(Delivery).values(user_id=None))  # as the request has left it
    db.session.commit()
    assert Lane("urgent", Channel.MESSAGING, Condition(), threads=0).send_next()
    (message,) = messages()
    assert (message.state, message.user_id) == (DeliveryState.SENT, owner.id)
    assert str(sealing.unseal(str(message.sealed), message.user_id)["text"]).count(code) == 1


def test_a_used_link_is_not_sent_again_after_an_unknown_call(client, owner):
    code = ask(client)
    messages()[0].unconfirmed_calls = 1
    db.session.commit()
    assert code_in(messages()[0]) == code
    assert client.post("/update-password", {"code": code, "new_password": "baru123"}).status_code == 200
    assert code_in(messages()[0]) is None


def test_a_second_request_replaces_the_first_link(client, owner):
    first, second = ask(client), ask(client)
    assert code_in(messages()[0]) is None
    assert_error(client.post("/update-password", {"code": first, "new_password": "baru123"}), 400, "invalid_code")
    assert client.post("/update-password", {"code": second, "new_password": "baru123"}).status_code == 200
    assert_error(client.post("/update-password", {"code": second, "new_password": "baru123"}), 400, "invalid_code")


@pytest.mark.parametrize("way", ["logout", "from afar", "new password"])
def test_ending_a_session_or_a_new_password_invalidates_an_open_reset_link(client, owner, way):
    """A person who found the lost phone requested the link."""
    own = client.as_(owner.user)
    code = ask(client)
    if way == "logout":
        assert owner.post("/logout").status_code == 200
    elif way == "from afar":
        other = next(row["id"] for row in own.get("/profile/sesi").json if not row["current"])
        assert own.delete(f"/profile/sesi/{other}").status_code == 200
    else:
        assert own.put("/profile", {"password": "baru-sekali"}).status_code == 200
    assert_error(client.post("/update-password", {"code": code, "new_password": "maling123"}), 400, "invalid_code")
    assert client.post("/update-password", {"code": ask(client), "new_password": "baru123"}).status_code == 200


def test_a_reset_link_expires_after_30_minutes(client, owner):
    code = ask(client)
    reset = db.session.scalars(db.select(PasswordReset)).one()
    assert abs(reset.expires_at - messages()[-1].due_at - timedelta(minutes=30)) < timedelta(seconds=5)
    reset.expires_at -= timedelta(minutes=31)
    db.session.flush()
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru123"}), 400, "invalid_code")
    assert credentials.authenticate("siti", PASSWORD) is not None


def test_the_reset_code_is_stored_hashed(client, owner):
    code = ask(client)
    assert code not in db.session.scalars(db.select(PasswordReset.token_hash)).one()
