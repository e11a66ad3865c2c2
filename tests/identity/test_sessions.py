"""Lifetime of sessions, by role."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.accounts import service
from app.core.database.session import db, unit_of_work
from app.core.errors import Unauthorized
from app.identity import jobs, roles, sessions, users
from app.identity.models import LoginSession, RoleName
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, as_caller, make_admin, make_superadmin, make_user
from tests.helpers.overlap import done_twice_at_once


def let_pass(**span):
    """Make all sessions older by this time span."""
    moments = (LoginSession.created_at, LoginSession.last_used_at, LoginSession.expires_at)
    db.session.execute(sa.update(LoginSession).values({moment: moment - timedelta(**span) for moment in moments}))


def promote(user):
    roles.add_roles(user, [role.id for role in roles.roles_named([RoleName.ADMIN])], as_caller(make_superadmin()))


#: Pauses between uses of a session, and whether it lives after the last of them.
LIVES = [
    (RoleName.PASIEN, [{"days": 6}] * 4 + [{"days": 5}], True),
    (RoleName.PASIEN, [{"days": 6}] * 4 + [{"days": 5}, {"days": 1, "minutes": 1}], False),
    (RoleName.PASIEN, [{"days": 6, "hours": 23}], True),
    (RoleName.PASIEN, [{"days": 7, "minutes": 1}], False),
    (RoleName.ADMIN, [{"minutes": 29}] * 24, True),
    (RoleName.ADMIN, [{"minutes": 29}] * 25, False),
    (RoleName.ADMIN, [{"minutes": 31}], False),
    (RoleName.SUPERADMIN, [{"minutes": 31}], False),
]


def test_a_session_expires_by_age_and_by_idle_time(client, subtests):
    """A token of a session ends with the session."""
    for role, pauses, is_alive in LIVES:
        with subtests.test(f"{role} {pauses[-1]}"):
            user = make_user(role)
            refresh, as_user = sessions.begin(user).refresh_token, client.as_(user)
            for pause in pauses[:-1]:
                let_pass(**pause)
                assert sessions.refresh(refresh)
            let_pass(**pauses[-1])
            if is_alive:
                assert sessions.refresh(refresh)
            else:
                with pytest.raises(Unauthorized):
                    sessions.refresh(refresh)
            if len(pauses) == 1:
                response = as_user.get("/profile")
                assert (response.status_code, response.json.get("error")) == (
                    (200, None) if is_alive else (401, "session_ended")
                )


def test_after_promotion_a_recently_used_old_session_ends_but_a_new_one_works(client):
    user = make_user()
    refresh, as_user = sessions.begin(user).refresh_token, client.as_(user)
    let_pass(days=6)
    sessions.refresh(refresh)
    promote(user)
    # The session of an administrator ends after 12 hours.
    assert_error(client.post("/refresh", {"refresh_token": refresh}), 401, "invalid_refresh_token")
    assert_error(as_user.get("/profile"), 401, "session_ended")
    young = sessions.begin(user).refresh_token
    let_pass(minutes=29)
    assert sessions.refresh(young)


@pytest.mark.parametrize("is_promoted_first", [True, False])
@pytest.mark.parametrize("way", ["login", "refresh"])
def test_a_login_or_refresh_concurrent_with_promotion_gives_no_long_session(committed, way, is_promoted_first):
    with unit_of_work():
        user = make_user(username="siti")
        token = sessions.begin(user).refresh_token
    ways = {"login": lambda: service.login("siti", PASSWORD), "refresh": lambda: sessions.refresh(token)}
    steps = [
        lambda: roles.set_only_role(users.get(user.id), RoleName.ADMIN),  # the operators' command line does the same
        ways[way],
    ]
    left = iter(steps if is_promoted_first else reversed(steps))
    second = done_twice_at_once(committed, lambda: next(left)())
    assert second.exception() is None
    is_long = LoginSession.expires_at > sa.func.now() + timedelta(minutes=30)
    assert db.session.scalar(sa.select(sa.func.count()).where(is_long)) == 0


def test_a_token_of_an_ended_session_is_refused_also_where_a_token_is_optional(client):
    """The service checks the session first, so a request with another error gets `session_ended` too."""
    user = make_user()
    as_user = client.as_(user)
    sessions.end_all(user.id)
    for path in ("/profile", "/forum/threads", "/forum/threads?page=0", "/forum/threads/999999"):
        assert_error(as_user.get(path), 401, "session_ended")


def test_a_superadmin_session_expires_after_its_time_limit(client):
    boss = client.as_superadmin(make_superadmin())
    assert boss.get("/profile").status_code == 200
    let_pass(minutes=16)
    assert boss.get("/profile").status_code == 401


def test_an_expired_admin_session_is_deleted_only_after_the_user_idle_limit(client):
    """While the session's row exists, the administrator's browser still gets pushes about urgent moderation cases."""
    sessions.begin(make_admin())
    for days, left in ((6.5, 1), (1, 0)):
        let_pass(days=days)
        jobs.delete_expired_sessions()
        assert db.session.scalar(sa.select(sa.func.count()).select_from(LoginSession)) == left
