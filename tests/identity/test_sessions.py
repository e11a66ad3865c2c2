"""How long a login lasts, by who logs in."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.core.database.session import db
from app.core.errors import Unauthorized
from app.core.lib.clock import now
from app.identity import sessions
from app.identity.models import LoginSession, RoleName, User
from app.identity.roles import roles_named
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_superadmin, make_user


def aged(user: User, *, age: timedelta, idle: timedelta) -> str:
    """The refresh token of a session begun and last used so long ago."""
    pair = sessions.begin(user)
    session = db.session.scalars(db.select(LoginSession).order_by(LoginSession.created_at.desc())).first()
    assert session is not None
    session.created_at = now() - age
    session.last_used_at = now() - idle
    db.session.flush()
    return pair.refresh_token


@pytest.mark.parametrize(
    ("role", "age", "idle", "alive"),
    [
        (RoleName.PASIEN, timedelta(days=29), timedelta(days=6), True),
        (RoleName.PASIEN, timedelta(days=31), timedelta(days=1), False),
        (RoleName.PASIEN, timedelta(days=8), timedelta(days=8), False),
        (RoleName.ADMIN, timedelta(hours=11), timedelta(minutes=29), True),
        (RoleName.ADMIN, timedelta(hours=13), timedelta(minutes=1), False),
        (RoleName.ADMIN, timedelta(hours=1), timedelta(minutes=31), False),
    ],
)
def test_a_session_ends_by_age_and_by_idleness(
    client: Client, role: RoleName, age: timedelta, idle: timedelta, alive: bool
) -> None:
    refresh = aged(make_user(role), age=age, idle=idle)
    if alive:
        assert sessions.refresh(refresh)
    else:
        with pytest.raises(Unauthorized):
            sessions.refresh(refresh)


def test_somebody_who_becomes_an_admin_gets_an_admins_short_session(client: Client) -> None:
    user = make_user()
    refresh = aged(user, age=timedelta(days=2), idle=timedelta(days=1))
    user.roles = roles_named([RoleName.ADMIN])
    db.session.flush()
    with pytest.raises(Unauthorized):
        sessions.refresh(refresh)


def test_a_refresh_starts_the_idle_time_again(client: Client) -> None:
    user = make_user()
    refresh = aged(user, age=timedelta(days=10), idle=timedelta(days=6))
    sessions.refresh(refresh)
    session = db.session.scalars(db.select(LoginSession)).one()
    assert now() - session.last_used_at < timedelta(minutes=1)


def test_an_access_token_ends_with_its_session(client: Client) -> None:
    user = make_user()
    as_user = client.as_(user)
    assert as_user.get("/profile").status_code == 200
    sessions.end_all(user.id)
    assert as_user.get("/profile").status_code == 401


@pytest.mark.parametrize(
    ("role", "age", "alive"),
    [
        (RoleName.PASIEN, timedelta(days=29, hours=23), True),
        (RoleName.PASIEN, timedelta(days=30, minutes=1), False),
        (RoleName.ADMIN, timedelta(hours=11, minutes=59), True),
        (RoleName.ADMIN, timedelta(hours=12, minutes=1), False),
        (RoleName.SUPERADMIN, timedelta(hours=12, minutes=1), False),
    ],
)
def test_an_access_token_lives_no_longer_than_a_session_may(
    client: Client, role: RoleName, age: timedelta, alive: bool
) -> None:
    as_user = client.as_(make_user(role))
    db.session.scalars(db.select(LoginSession)).one().created_at = now() - age
    if alive:
        assert as_user.get("/profile").status_code == 200
    else:
        assert_error(as_user.get("/profile"), 401, "session_ended")


@pytest.mark.parametrize("path", ["/forum/threads", "/forum/threads?page=0", "/forum/threads/999999"])
def test_where_a_token_may_be_left_out_one_of_an_ended_session_is_refused_all_the_same(
    client: Client, path: str
) -> None:
    """Before what is wrong with the rest of the request."""
    user = make_user()
    as_user = client.as_(user)
    sessions.end_all(user.id)
    assert_error(as_user.get(path), 401, "session_ended")


def test_a_superadmin_session_ends_after_its_minutes(client: Client) -> None:
    boss = client.as_superadmin(make_superadmin())
    assert boss.get("/profile").status_code == 200
    session = db.session.scalars(db.select(LoginSession)).one()
    session.created_at -= timedelta(minutes=16)
    assert boss.get("/profile").status_code == 401


def test_dead_sessions_are_swept(client: Client) -> None:
    user, admin = make_user(), make_admin()
    aged(user, age=timedelta(days=40), idle=timedelta(days=1))
    aged(user, age=timedelta(days=9), idle=timedelta(days=8))
    sessions.begin(admin)
    sessions.delete_expired()
    assert db.session.scalars(db.select(LoginSession.user_id)).all() == [admin.id]
