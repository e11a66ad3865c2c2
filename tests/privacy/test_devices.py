"""Tests of the list of devices and of remote logout."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity.models import LoginSession, RoleName, SessionKind
from tests.accounts.registration import SITI
from tests.helpers.factories import make_user
from tests.privacy.answers import ANDROID, listed, log_in

SUBSCRIPTION = {
    "endpoint": "https://push.example.com/send/abc",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
}


def test_the_latest_login_is_first_and_the_callers_session_is_marked(client, siti):
    db.session.execute(sa.update(LoginSession).values(created_at=now() - timedelta(hours=1)))
    phone, _ = log_in(client, **{"User-Agent": ANDROID})
    assert [(row["name"], row["current"]) for row in listed(phone)] == [
        ("Chrome di Android", True),
        ("Perangkat tak bernama", False),
    ]
    response = siti.get("/profile/sesi?page=2&per_page=1")
    assert ([row["current"] for row in response.json], response.headers["X-Total-Count"]) == ([True], "2")


def test_only_own_sessions_are_listed(client, siti):
    stranger = client.as_(make_user())
    assert [len(listed(each)) for each in (siti, stranger)] == [1, 1]
    assert listed(siti)[0]["id"] != listed(stranger)[0]["id"]


def test_a_device_with_a_push_subscription_is_marked(client, siti):
    phone, _ = log_in(client)
    phone.post("/push/subscribe", SUBSCRIPTION)
    assert {row["current"]: row["notifications"] for row in listed(phone)} == {True: True, False: False}
    siti.post("/push/subscribe", SUBSCRIPTION)
    assert {row["current"]: row["notifications"] for row in listed(phone)} == {True: False, False: True}


def test_the_session_of_a_registration_has_a_device_name(client):
    token = client.post("/register", SITI, headers={"User-Agent": ANDROID}).json["access_token"]
    assert [row["name"] for row in listed(client.with_token(token))] == ["Chrome di Android"]


def test_an_expired_session_is_not_listed(client, siti):
    db.session.add(LoginSession(user_id=siti.id, kind=SessionKind.USER, expires_at=now() - timedelta(minutes=1)))
    assert len(listed(siti)) == 1


def test_a_console_session_is_listed_until_it_expires(client):
    make_user(RoleName.SUPERADMIN, username="siti")
    console, _ = log_in(client, "/superadmin/login", **{"User-Agent": ANDROID})
    assert [row["name"] for row in listed(console)] == ["Chrome di Android"]
    db.session.execute(sa.update(LoginSession).values(expires_at=LoginSession.expires_at - timedelta(minutes=20)))
    own, _ = log_in(client)
    assert [row["current"] for row in listed(own)] == [True]
