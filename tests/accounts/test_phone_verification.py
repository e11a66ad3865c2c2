"""Whose number it is: shown by a message that comes from it, or by six digits that went to it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask, current_app

from app.accounts import jobs, verification
from app.accounts.models import PhoneVerification
from app.accounts.verification import Proof
from app.core.database.session import db, unit_of_work
from app.identity import credentials, sessions, users
from app.identity.models import PHONE_IS_PROVEN, PasswordReset, User
from app.notifications.models import Channel, Delivery, State
from tests.client import Client, assert_error
from tests.factories import PASSWORD, make_user
from tests.language import assert_readable
from tests.overlap import done_twice_at_once

PATH = "/profile/phone/verification"
OWN, NEW = "081234567890", "081399990000"
E164 = {OWN: "+6281234567890", NEW: "+6281399990000"}


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(username="siti", nomor_hp=OWN)


@pytest.fixture
def as_siti(client: Client, siti: User) -> Client:
    return client.as_(siti)


def ask(client: Client, **data: str) -> dict[str, Any]:
    response = client.post(PATH, {"method": "message", **data})
    assert response.status_code == 201, response.text
    asked: dict[str, Any] = response.json
    assert set(asked) == {"code", "link", "expires_at"}
    return asked


def write(code: str, phone: str = OWN) -> Proof:
    """Somebody writes the word from a number."""
    db.session.commit()
    with current_app.app_context(), unit_of_work():  # in a session of its own, as a request of the client's
        proof = verification.confirm_by_message(E164[phone], code)
    db.session.expire_all()
    return proof


def messages(kind: str) -> list[Delivery]:
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind=kind).order_by(Delivery.id)))


def digits(client: Client, **data: str) -> str:
    """Ask for six digits; returns those that the message holds."""
    asked = ask(client, method="code", **data)
    assert (asked["code"], asked["link"]) == (None, None)
    (code,) = re.findall(r"\b\d{6}\b", str(messages("phone_code")[-1].payload["text"]))
    return str(code)


def is_proven(user: User) -> bool:
    return bool(db.session.scalar(sa.select(PHONE_IS_PROVEN).where(User.id == user.id)))


def expire() -> None:
    db.session.execute(sa.update(PhoneVerification).values(expires_at=sa.func.now() - timedelta(seconds=1)))


# --- by the person's own message ------------------------------------------------------------------------------------


def test_a_number_is_unproven_at_first(as_siti: Client, siti: User) -> None:
    assert as_siti.get("/profile").json["phone_verified_at"] is None
    assert not is_proven(siti)


def test_the_word_from_the_own_number_proves_it(as_siti: Client, siti: User) -> None:
    code = ask(as_siti)["code"]
    assert re.fullmatch("[2-9A-HJKMNP-Z]{6}", code)
    assert write(code) is Proof.PROVEN
    assert as_siti.get("/profile").json["phone_verified_at"] is not None
    assert is_proven(siti)
    assert messages("security_notice") == []


def test_the_link_opens_a_chat_with_the_word_in_it(
    as_siti: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(as_siti)["link"] is None
    config = replace(app.extensions["config"], messaging_number="+628110000000")
    monkeypatch.setitem(app.extensions, "config", config)
    asked = ask(as_siti)
    assert asked["link"] == f"https://wa.me/628110000000?text=VERIFIKASI%20{asked['code']}"


def test_where_nobody_hears_people_they_get_six_digits(
    as_siti: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert as_siti.post(PATH, {}).json["code"] is None
    config = replace(app.extensions["config"], fonnte_webhook_token="x" * 32)
    monkeypatch.setitem(app.extensions, "config", config)
    assert as_siti.post(PATH, {}).json["code"] is not None


def test_small_letters_and_blanks_make_no_difference(as_siti: Client) -> None:
    code = ask(as_siti)["code"].lower()
    assert write(f" {code[:3]} {code[3:]}") is Proof.PROVEN


def test_a_code_works_once(as_siti: Client) -> None:
    code = ask(as_siti)["code"]
    assert [write(code), write(code)] == [Proof.PROVEN, Proof.UNKNOWN_CODE]


def test_a_code_lives_15_minutes(as_siti: Client, siti: User) -> None:
    code = ask(as_siti)["code"]
    lifetime = sa.select(PhoneVerification.expires_at - PhoneVerification.created_at)
    assert abs(db.session.scalars(lifetime).one() - timedelta(minutes=15)) < timedelta(seconds=5)
    expire()
    assert write(code) is Proof.UNKNOWN_CODE
    assert not is_proven(siti)


def test_what_nobody_finished_is_forgotten(as_siti: Client) -> None:
    ask(as_siti)
    jobs.forget_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 1
    expire()
    db.session.commit()
    jobs.forget_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneVerification)) == 0


def test_a_new_code_ends_the_one_before(as_siti: Client) -> None:
    first, second = ask(as_siti)["code"], ask(as_siti)["code"]
    assert [write(first), write(second)] == [Proof.UNKNOWN_CODE, Proof.PROVEN]


def test_a_code_from_another_number_proves_nothing(as_siti: Client, siti: User) -> None:
    code = ask(as_siti)["code"]
    assert write(code, NEW) is Proof.UNKNOWN_CODE
    assert not is_proven(siti)
    assert write(code) is Proof.PROVEN


def test_no_code_is_stored(as_siti: Client) -> None:
    code, six = ask(as_siti)["code"], digits(as_siti)
    stored = [
        str(value) for row in db.session.execute(sa.select(PhoneVerification.__table__)) for value in row if value
    ]
    assert not [value for value in stored if code in value or six in value]


# --- by six digits --------------------------------------------------------------------------------------------------


def test_six_digits_prove_a_number(as_siti: Client, siti: User) -> None:
    code = digits(as_siti)
    response = as_siti.put(PATH, {"code": code})
    assert response.status_code == 200
    assert response.json == as_siti.get("/profile").json
    assert response.json["phone_verified_at"] is not None
    assert_error(as_siti.put(PATH, {"code": code}), 400, "invalid_code")


def test_the_digits_go_to_the_number_alone(as_siti: Client) -> None:
    digits(as_siti, nomor_hp=NEW)
    (message,) = messages("phone_code")
    assert (message.target, message.user_id, message.channel) == (E164[NEW], None, Channel.MESSAGING)
    assert abs(message.expires_at - message.due_at - timedelta(minutes=15)) < timedelta(seconds=5)
    assert_readable(str(message.payload["text"]))


def test_new_digits_take_the_older_message_back(as_siti: Client) -> None:
    first, second = digits(as_siti), digits(as_siti)
    assert [message.state for message in messages("phone_code")] == [State.CANCELLED, State.PENDING]
    if first != second:
        assert_error(as_siti.put(PATH, {"code": first}), 400, "invalid_code")
    assert as_siti.put(PATH, {"code": second}).status_code == 200


def test_expired_digits_prove_nothing(as_siti: Client) -> None:
    code = digits(as_siti)
    expire()
    assert_error(as_siti.put(PATH, {"code": code}), 400, "invalid_code")


@pytest.fixture
def really(committed: Flask) -> Client:
    """Siti with real commits: a refusal rolls back the request, and the try counts nevertheless."""
    with unit_of_work():
        user_id = make_user(username="siti", nomor_hp=OWN).id
    with unit_of_work():
        return Client(committed, sessions.begin(users.get(user_id)).access_token)


def test_digits_may_be_tried_five_times(really: Client) -> None:
    code = digits(really)
    for n in range(5):
        assert_error(really.put(PATH, {"code": f"{(int(code) + n + 1) % 10**6:06d}"}), 400, "invalid_code")
    assert_error(really.put(PATH, {"code": code}), 400, "invalid_code")
    assert really.get("/profile").json["phone_verified_at"] is None


def test_the_fifth_try_may_be_the_right_one(really: Client) -> None:
    code = digits(really)
    for n in range(4):
        assert_error(really.put(PATH, {"code": f"{(int(code) + n + 1) % 10**6:06d}"}), 400, "invalid_code")
    assert really.put(PATH, {"code": code}).status_code == 200


def test_a_thousand_guesses_find_nothing(really: Client) -> None:
    """Even with the right one among them, once five were wrong."""
    code = digits(really)
    guesses = [f"{(int(code) + n) % 10**6:06d}" for n in range(-900, 100)]
    assert {really.put(PATH, {"code": guess}).status_code for guess in guesses} == {400}
    assert really.get("/profile").json["phone_verified_at"] is None


def test_guesses_at_once_are_counted_each(really: Client, committed: Flask) -> None:
    code = digits(really)
    wrong = [f"{(int(code) + n) % 10**6:06d}" for n in range(1, 9)]
    headers = {"Authorization": f"Bearer {really.token}"}

    def guess(tried: str) -> int:
        return committed.test_client().put(f"/api{PATH}", json={"code": tried}, headers=headers).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(guess, wrong)) == {400}
    assert db.session.scalars(sa.select(PhoneVerification.tries)).one() == 5


def test_digits_are_somebodys_own(client: Client, as_siti: Client) -> None:
    code = digits(as_siti)
    assert_error(client.as_(make_user()).put(PATH, {"code": code}), 400, "invalid_code")
    assert as_siti.put(PATH, {"code": code}).status_code == 200


def test_digits_go_to_a_number_three_times_a_day_whoever_asks(client: Client, limited: None) -> None:
    for n in range(4):
        response = client.as_(make_user()).post(PATH, {"method": "code", "nomor_hp": NEW})
        assert response.status_code == (201 if n < 3 else 429)
    assert len(messages("phone_code")) == 3
    assert client.as_(make_user()).post(PATH, {"method": "code"}).status_code == 201


# --- another number -------------------------------------------------------------------------------------------------


def test_a_new_number_moves_when_it_is_proven(as_siti: Client, siti: User) -> None:
    code = ask(as_siti, nomor_hp=NEW)["code"]
    assert as_siti.get("/profile").json["nomor_hp"] == OWN
    assert write(code, NEW) is Proof.PROVEN
    profile = as_siti.get("/profile").json
    assert (profile["nomor_hp"], profile["phone_verified_at"] is not None) == (NEW, True)
    told = {message.target: str(message.payload["text"]) for message in messages("security_notice")}
    assert set(told) == {E164[OWN], E164[NEW]}
    assert all("nomor HP" in text for text in told.values())


def test_a_changed_number_is_unproven(as_siti: Client) -> None:
    write(ask(as_siti)["code"])
    assert as_siti.put("/profile", {"nomor_hp": "0812-3456-7890"}).json["phone_verified_at"] is not None
    assert as_siti.put("/profile", {"nomor_hp": NEW}).json["phone_verified_at"] is None


def test_a_number_that_was_called_invalid_is_valid_once_it_is_proven(as_siti: Client, siti: User) -> None:
    siti.phone_invalid_at = siti.created_at
    write(ask(as_siti)["code"])
    db.session.refresh(siti)
    assert siti.phone_invalid_at is None


# --- the squatter and the owner -------------------------------------------------------------------------------------


@pytest.fixture
def squatter(client: Client) -> User:
    """Somebody who registered with a number that is not theirs."""
    return make_user(username="penumpang", nomor_hp=NEW, email="penumpang@contoh.id")


def test_the_owner_takes_the_number_from_an_unproven_account(client: Client, as_siti: Client, squatter: User) -> None:
    assert_error(as_siti.put("/profile", {"nomor_hp": NEW}), 409, "phone_taken")
    assert write(ask(as_siti, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN
    theirs = client.as_(squatter).get("/profile").json
    assert (theirs["nomor_hp"], theirs["email"]) == (None, "penumpang@contoh.id")
    assert as_siti.get("/profile").json["nomor_hp"] == NEW
    assert credentials.by_login(NEW) == credentials.by_login("siti")


def test_the_squatter_keeps_the_login_and_is_told(client: Client, as_siti: Client, squatter: User) -> None:
    before = client.as_(squatter)
    write(ask(as_siti, nomor_hp=NEW)["code"], NEW)
    assert before.get("/profile").status_code == 200
    assert client.post("/login", {"username": "penumpang", "password": PASSWORD}).status_code == 200
    (told,) = [row for row in messages("security_notice") if row.user_id == squatter.id]
    assert told.channel == Channel.PUSH_FAN_OUT
    for text in (told.payload["title"], told.payload["body"]):
        assert_readable(str(text))


def test_the_owner_gets_the_number_and_nobodys_data(client: Client, as_siti: Client, squatter: User) -> None:
    """Neither a reset link of the squatter's account nor a message that was meant for them."""
    client.get("/send-verification-code", query_string={"phone": NEW})
    code = str(messages("password_reset")[0].payload["text"]).split("code=")[1].split()[0]
    write(ask(as_siti, nomor_hp=NEW)["code"], NEW)
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru-sekali"}), 400, "invalid_code")
    assert db.session.scalars(sa.select(PasswordReset)).all() == []
    assert not [row for row in messages("security_notice") if row.user_id == squatter.id and row.target == E164[NEW]]


def test_nobody_takes_a_number_that_is_proven(client: Client, as_siti: Client, siti: User) -> None:
    write(ask(as_siti)["code"])
    other = client.as_(make_user())
    assert write(ask(other, nomor_hp=OWN)["code"]) is Proof.TAKEN
    assert_error(other.put(PATH, {"code": digits(other, nomor_hp=OWN)}), 409, "phone_taken")
    assert as_siti.get("/profile").json["nomor_hp"] == OWN


@pytest.mark.parametrize("method", ["message", "code"])
def test_known_and_unknown_numbers_are_answered_alike(
    as_siti: Client, squatter: User, statements: Any, method: str
) -> None:
    costs, bodies = [], []
    for phone in (NEW, "081999999999"):
        before = len(statements.seen)
        asked = ask(as_siti, nomor_hp=phone, method=method)
        costs.append(len(statements.seen) - before)
        bodies.append({name: type(value) for name, value in asked.items()})
    assert costs[0] == costs[1]
    assert bodies[0] == bodies[1]


def test_of_two_who_prove_a_number_at_once_one_gets_it(committed: Flask) -> None:
    """Both are asked for it, as where one phone serves a family; the squatter has it until then."""
    with unit_of_work():
        make_user(username="penumpang", nomor_hp=NEW)
        people = [make_user(username=name).id for name in ("ani", "budi")]
    with unit_of_work():
        clients = [Client(committed, sessions.begin(users.get(user_id)).access_token) for user_id in people]
    waiting = [ask(client, nomor_hp=NEW)["code"] for client in clients]
    proofs = []
    done_twice_at_once(
        committed, lambda: proofs.append(verification.confirm_by_message(E164[NEW], waiting.pop()))
    ).result()
    assert proofs == [Proof.PROVEN, Proof.TAKEN]
    assert sorted(str(client.get("/profile").json["nomor_hp"]) == NEW for client in clients) == [False, True]


def test_a_code_that_is_used_twice_at_once_counts_once(really: Client, committed: Flask) -> None:
    code, proofs = ask(really)["code"], []
    done_twice_at_once(committed, lambda: proofs.append(verification.confirm_by_message(E164[OWN], code))).result()
    assert proofs == [Proof.PROVEN, Proof.UNKNOWN_CODE]


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"nomor_hp": "abc"}, "nomor_hp"),
        ({"nomor_hp": None}, "nomor_hp"),
        ({"nomor_hp": "+6591234567"}, "nomor_hp"),
        ({"method": "sms"}, "method"),
    ],
)
def test_a_wrong_request_is_bad_input(as_siti: Client, body: dict[str, Any], field: str) -> None:
    assert_error(as_siti.post(PATH, body), 400, "validation_error", field)


@pytest.mark.parametrize("body", [{}, {"code": None}, {"code": ""}, {"code": "1" * 21}])
def test_a_wrong_confirmation_is_bad_input(as_siti: Client, body: dict[str, Any]) -> None:
    assert_error(as_siti.put(PATH, body), 400, "validation_error", "code")


def test_whoever_has_no_number_names_one(client: Client) -> None:
    nobody = client.as_(make_user(nomor_hp=None))
    assert_error(nobody.post(PATH, {}), 400, "validation_error", "nomor_hp")
    assert write(ask(nobody, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN


def test_a_stolen_session_needs_the_password_where_a_change_does(
    as_siti: Client, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(app.extensions["config"], profile_reauth="required")
    monkeypatch.setitem(app.extensions, "config", config)
    assert_error(as_siti.post(PATH, {"nomor_hp": NEW}), 400, "current_password_required")
    assert_error(as_siti.post(PATH, {"nomor_hp": NEW, "current_password": "x"}), 400, "wrong_current_password")
    ask(as_siti, nomor_hp=NEW, current_password=PASSWORD)
    ask(as_siti)
