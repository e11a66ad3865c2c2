"""Where people are signed in, and how they sign out from afar."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.errors import Unauthorized
from app.core.lib.clock import now
from app.identity import sessions
from app.identity.models import LoginSession, RoleName, SessionKind, User
from app.identity.sessions import Caller
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.helpers.overlap import done_twice_at_once
from tests.helpers.statements import Statements

ANDROID = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
)

SUBSCRIPTION = {
    "endpoint": "https://push.example.com/send/abc",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
}


@pytest.fixture
def user(app: Flask) -> User:
    return make_user(username="siti")


@pytest.fixture
def siti(client: Client, user: User) -> Client:
    return client.as_(user)


def listed(client: Client) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/profile/sesi").json
    return rows


def log_in(client: Client, path: str = "/login", **headers: str) -> tuple[Client, Any]:
    body = {"username": "siti", "password": PASSWORD}
    response = client.post(path, body, headers=headers)
    return client.with_token(response.json["access_token"]), response.json


def test_a_login_is_listed_by_the_plain_name_of_its_device(client: Client, user: User) -> None:
    phone, _ = log_in(client, **{"User-Agent": ANDROID})
    [row] = listed(phone)
    assert set(row) == {"id", "name", "created_at", "last_used_at", "current", "notifications"}
    assert (row["name"], row["current"]) == ("Chrome di Android", True)


def test_a_device_that_takes_notifications_says_so(client: Client, siti: Client, user: User) -> None:
    phone, _ = log_in(client)
    phone.post("/push/subscribe", SUBSCRIPTION)
    assert {row["current"]: row["notifications"] for row in listed(phone)} == {True: True, False: False}
    siti.post("/push/subscribe", SUBSCRIPTION)
    assert {row["current"]: row["notifications"] for row in listed(phone)} == {True: False, False: True}


def test_a_registration_is_a_session_with_a_name_too(client: Client, app: Flask) -> None:
    body = {
        "username": "budi",
        "password": PASSWORD,
        "nama_ktp": "Budi",
        "nama_samaran": "Elang",
        "nomor_hp": "081299998888",
    }
    token = client.post("/register", body, headers={"User-Agent": ANDROID}).json["access_token"]
    assert [row["name"] for row in listed(client.with_token(token))] == ["Chrome di Android"]


def test_a_session_from_before_names_were_kept_has_none(siti: Client) -> None:
    assert [row["name"] for row in listed(siti)] == ["Perangkat tak bernama"]


def test_the_latest_login_comes_first_and_one_is_the_present(client: Client, siti: Client, user: User) -> None:
    db.session.execute(sa.update(LoginSession).values(created_at=now() - timedelta(hours=1)))
    phone, _ = log_in(client, **{"User-Agent": ANDROID})
    assert [(row["name"], row["current"]) for row in listed(phone)] == [
        ("Chrome di Android", True),
        ("Perangkat tak bernama", False),
    ]
    assert [row["current"] for row in listed(siti)] == [False, True]


def test_a_session_that_has_ended_by_itself_is_not_listed(client: Client, siti: Client, user: User) -> None:
    for age, idle in ((timedelta(days=31), timedelta()), (timedelta(days=8), timedelta(days=8))):
        db.session.add(
            LoginSession(
                id=uuid4(),
                user_id=user.id,
                kind=SessionKind.USER,
                created_at=now() - age,
                last_used_at=now() - idle,
            )
        )
    assert len(listed(siti)) == 1


def test_a_session_of_the_console_is_listed_while_it_lives(client: Client, app: Flask) -> None:
    make_user(RoleName.SUPERADMIN, username="siti")
    console, _ = log_in(client, "/superadmin/login", **{"User-Agent": ANDROID})
    assert [row["name"] for row in listed(console)] == ["Chrome di Android"]
    db.session.execute(sa.update(LoginSession).values(created_at=now() - timedelta(minutes=20)))
    own, _ = log_in(client)
    assert [row["current"] for row in listed(own)] == [True]


def test_a_device_signed_out_from_afar_is_out_at_once(client: Client, siti: Client, user: User) -> None:
    phone, pair = log_in(client)
    session_id = next(row["id"] for row in listed(phone) if row["current"])
    assert siti.delete(f"/profile/sesi/{session_id}").status_code == 200
    assert_error(phone.get("/profile"), 401, "session_ended")
    assert_error(client.post("/refresh", {"refresh_token": pair["refresh_token"]}), 401, "invalid_refresh_token")
    assert [row["current"] for row in listed(siti)] == [True]
    assert_error(siti.delete(f"/profile/sesi/{session_id}"), 404, "not_found")


def test_ones_own_session_may_be_ended_by_its_id(siti: Client) -> None:
    [row] = listed(siti)
    assert siti.delete(f"/profile/sesi/{row['id']}").status_code == 200
    assert_error(siti.get("/profile/sesi"), 401, "session_ended")


def test_all_devices_but_this_one_are_signed_out(client: Client, siti: Client, user: User) -> None:
    others = [log_in(client)[0] for _ in range(2)]
    stranger = client.as_(make_user())
    assert siti.delete("/profile/sesi").status_code == 200
    assert [other.get("/profile").status_code for other in others] == [401, 401]
    assert (siti.get("/profile").status_code, stranger.get("/profile").status_code) == (200, 200)
    assert siti.delete("/profile/sesi").status_code == 200


@pytest.mark.parametrize("session_id", ["tidak-ada", "1", str(UUID(int=1)), "%00", "x" * 300])
def test_what_is_no_session_is_not_found(siti: Client, session_id: str) -> None:
    assert_error(siti.delete(f"/profile/sesi/{session_id}"), 404)
    assert len(listed(siti)) == 1


def test_a_strangers_session_is_not_found_and_goes_on(client: Client, siti: Client) -> None:
    stranger = client.as_(make_user())
    [row] = listed(stranger)
    assert_error(siti.delete(f"/profile/sesi/{row['id']}"), 404, "not_found")
    assert stranger.get("/profile").status_code == 200


@pytest.mark.parametrize("call", [("GET", ""), ("DELETE", ""), ("DELETE", f"/{UUID(int=1)}")], ids=str)
def test_nobody_asks_without_a_token(client: Client, call: tuple[str, str]) -> None:
    method, path = call
    assert_error(client.open(method, f"/profile/sesi{path}"), 401, "unauthorized")


def test_devices_are_paged(client: Client, siti: Client, user: User) -> None:
    for _ in range(2):
        log_in(client)
    response = siti.get("/profile/sesi?page=1&per_page=2")
    assert (len(response.json), response.headers["X-Total-Count"]) == (2, "3")
    assert_error(siti.get("/profile/sesi?page=0"), 400, "validation_error", "page")


def test_a_list_costs_the_same_statements_however_long(
    client: Client, siti: Client, user: User, statements: Statements
) -> None:
    for _ in range(5):
        log_in(client)
    with statements.at_most(2):  # the session of the request, the list
        siti.get("/profile/sesi")


def test_a_session_that_is_ended_while_it_is_refreshed_is_over(committed: Flask) -> None:
    with unit_of_work():
        user = make_user()
        pair = sessions.begin(user)
    [session_id] = db.session.scalars(sa.select(LoginSession.id))
    caller = Caller(user.id, frozenset(), uuid4(), SessionKind.USER)
    steps = iter((lambda: sessions.end_own(caller, str(session_id)), lambda: sessions.refresh(pair.refresh_token)))
    second = done_twice_at_once(committed, lambda: next(steps)())
    assert isinstance(second.exception(), Unauthorized)


def test_a_refresh_that_comes_first_saves_no_session(committed: Flask) -> None:
    with unit_of_work():
        user = make_user()
        pair = sessions.begin(user)
    [session_id] = db.session.scalars(sa.select(LoginSession.id))
    caller = Caller(user.id, frozenset(), uuid4(), SessionKind.USER)
    steps = iter((lambda: sessions.refresh(pair.refresh_token), lambda: sessions.end_own(caller, str(session_id))))
    second = done_twice_at_once(committed, lambda: next(steps)())
    assert second.exception() is None
    assert db.session.scalar(sa.select(sa.func.count()).select_from(LoginSession)) == 0
