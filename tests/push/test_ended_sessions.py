"""Push subscriptions of a session. After the session has ended, its browsers get no personal texts."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.forum.service import notices
from app.identity import jobs as identity_jobs
from app.identity import sessions, users
from app.identity.models import LoginSession, RoleName
from app.notifications import jobs
from app.push.models import PushSubscription
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.push.pushes import NEUTRAL, TEXT, push, remind, shown


def sign_in(caller, user_id):
    """Log the person in on a new device, and return the caller of this device."""
    with unit_of_work():
        pair = sessions.begin(users.get(user_id))
    return caller.with_token(pair.access_token)


def id_of(device):
    return next(UUID(row["id"]) for row in device.get("/profile/sesi").json if row["current"])


def subscribe(device, browser):
    response = device.post("/push/subscribe", browser)
    assert response.status_code in (200, 201)
    assert response.json["is_verified"] is True


def idle(session_id, **age):
    """Move the last use and the expiry of a session back by `age`."""
    span = timedelta(**age)
    unused = {"last_used_at": LoginSession.last_used_at - span, "expires_at": LoginSession.expires_at - span}
    with unit_of_work():
        db.session.execute(sa.update(LoginSession).filter_by(id=session_id).values(unused))


def endpoints():
    return list(db.session.scalars(sa.select(PushSubscription.endpoint)))


def assert_ok(response):
    assert response.status_code == 200, response.get_data(as_text=True)


def sign_out(owner, stolen):
    assert_ok(owner.delete(f"/profile/sesi/{id_of(stolen)}"))


def sign_out_all(owner, stolen):
    assert_ok(owner.delete("/profile/sesi"))


def change_password(owner, stolen):
    assert_ok(owner.put("/profile", {"password": "baru-sekali"}))


def log_out(owner, stolen):
    assert_ok(stolen.post("/logout"))


ENDS = [sign_out, sign_out_all, change_password, log_out]


@pytest.mark.parametrize("end", ENDS)
def test_the_browser_of_an_ended_session_shows_no_push(caller, sim, user_id, browser, other_browser, end):
    owner, stolen = sign_in(caller, user_id), sign_in(caller, user_id)
    subscribe(owner, browser)
    subscribe(stolen, other_browser)
    end(owner, stolen)
    push(user_id)
    assert (shown(sim, browser), shown(sim, other_browser)) == ([TEXT], [])
    assert endpoints() == [browser["endpoint"]]


def test_a_waiting_push_is_not_shown_after_its_session_has_ended(caller, sim, user_id, browser):
    device = sign_in(caller, user_id)
    subscribe(device, browser)
    remind(user_id)
    assert device.post("/logout").status_code == 200
    jobs.drain("urgent")
    assert shown(sim, browser) == []


def test_deleting_the_account_deletes_its_push_subscriptions(caller, user_id, browser):
    device = sign_in(caller, user_id)
    subscribe(device, browser)
    assert device.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    assert endpoints() == []


def test_a_subscription_remains_active_after_refreshes_of_its_session(caller, sim, user_id, browser):
    with unit_of_work():
        pair = sessions.begin(users.get(user_id))
    subscribe(caller.with_token(pair.access_token), browser)
    for _ in range(2):
        assert caller.post("/refresh", {"refresh_token": pair.refresh_token}).status_code == 200
    push(user_id)
    assert shown(sim, browser) == [TEXT]


def test_a_browser_that_subscribes_again_belongs_to_the_new_session(caller, sim, user_id, browser):
    first, second = sign_in(caller, user_id), sign_in(caller, user_id)
    subscribe(first, browser)
    subscribe(second, browser)
    first.post("/logout")
    push(user_id)
    assert shown(sim, browser) == [TEXT]


def test_an_unverified_subscription_remains_after_a_logout(caller, user_id, browser):
    device = sign_in(caller, user_id)
    assert caller.post("/push/subscribe", {**browser, "user_id": user_id}).json["is_verified"] is False
    device.post("/logout")
    assert endpoints() == [browser["endpoint"]]


def test_the_browser_of_a_session_idle_too_long_shows_no_personal_text(caller, sim, keys):
    for role, age, is_active in (
        (RoleName.PASIEN, timedelta(days=6), True),
        (RoleName.PASIEN, timedelta(days=8), False),
        (RoleName.ADMIN, timedelta(minutes=29), True),
        (RoleName.ADMIN, timedelta(minutes=31), False),
    ):
        with unit_of_work():
            user_id = make_user(role).id
        device, browser = sign_in(caller, user_id), sim.push.subscribe(keys)
        subscribe(device, browser)
        idle(id_of(device), seconds=age.total_seconds())
        push(user_id)
        push(user_id, "security_notice")
        assert shown(sim, browser) == ([TEXT, TEXT] if is_active else [NEUTRAL]), (role, age)


def test_deleting_expired_sessions_deletes_their_subscriptions(caller, user_id, browser, other_browser):
    left, used = sign_in(caller, user_id), sign_in(caller, user_id)
    subscribe(left, browser)
    subscribe(used, other_browser)
    idle(id_of(left), days=8)
    identity_jobs.delete_expired_sessions()
    assert endpoints() == [other_browser["endpoint"]]


def test_a_moderator_gets_case_pushes_after_the_session_was_idle_too_long(caller, sim, browser):
    """A push about a moderation case has no personal text and is the only notice of an urgent case.

    Therefore this push needs no active session.
    """
    with unit_of_work():
        user_id = make_user(RoleName.ADMIN).id
    device = sign_in(caller, user_id)
    subscribe(device, browser)
    idle(id_of(device), hours=3)
    identity_jobs.delete_expired_sessions()
    push(user_id, notices.CASE_KIND)
    assert shown(sim, browser) == [TEXT]
    with unit_of_work():
        db.session.execute(sa.update(LoginSession).values(expires_at=sa.func.now() + timedelta(minutes=1)))
    assert device.post("/logout").status_code == 200
    push(user_id, notices.CASE_KIND)
    assert shown(sim, browser) == [TEXT]


@pytest.mark.parametrize("end", [sign_out_all, change_password])
def test_a_verified_subscription_without_a_session_ends_with_all_sessions(caller, sim, user_id, browser, end):
    """Old subscriptions have no session, because they are older than the column `session_id`."""
    owner, other = sign_in(caller, user_id), sign_in(caller, user_id)
    subscribe(owner, browser)
    db.session.execute(sa.text("UPDATE push_subscriptions SET session_id = NULL"))
    db.session.commit()
    push(user_id)
    assert shown(sim, browser) == [TEXT]
    other.post("/logout")
    assert endpoints() == [browser["endpoint"]]
    end(owner, other)
    assert endpoints() == []


def test_subscribing_with_an_ended_session_is_refused_with_401(caller, user_id, browser):
    device = sign_in(caller, user_id)
    device.post("/logout")
    assert_error(device.post("/push/subscribe", browser), 401, "session_ended")
    assert endpoints() == []
