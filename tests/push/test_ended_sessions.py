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


#: Requests of the owner that end all other sessions.
END_ALL = {
    "DELETE /profile/sesi": lambda owner: owner.delete("/profile/sesi"),
    "PUT /profile": lambda owner: owner.put("/profile", {"password": "baru-sekali"}),
}
ENDS = {name: lambda owner, _, end=end: end(owner) for name, end in END_ALL.items()} | {
    "DELETE /profile/sesi/<id>": lambda owner, stolen: owner.delete(f"/profile/sesi/{id_of(stolen)}"),
    "POST /logout": lambda _, stolen: stolen.post("/logout"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_browser_of_an_ended_session_shows_no_push(caller, sim, user_id, browser, other_browser, end):
    owner, stolen = sign_in(caller, user_id), sign_in(caller, user_id)
    subscribe(owner, browser)
    subscribe(stolen, other_browser)
    assert end(owner, stolen).status_code == 200
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


def test_an_unverified_subscription_remains_after_a_logout_and_an_ended_session_gets_none(caller, user_id, browser):
    device = sign_in(caller, user_id)
    assert caller.post("/push/subscribe", {**browser, "user_id": user_id}).json["is_verified"] is False
    device.post("/logout")
    assert_error(
        device.post("/push/subscribe", {**browser, "endpoint": f"{browser['endpoint']}2"}), 401, "session_ended"
    )
    assert endpoints() == [browser["endpoint"]]


def test_the_browser_of_a_session_idle_too_long_shows_no_personal_text(caller, sim, keys):
    for role, age, is_active in (
        (RoleName.PASIEN, {"days": 6}, True), (RoleName.PASIEN, {"days": 8}, False),
        (RoleName.ADMIN, {"minutes": 29}, True), (RoleName.ADMIN, {"minutes": 31}, False),
    ):  # fmt: skip
        with unit_of_work():
            user_id = make_user(role).id
        device, browser = sign_in(caller, user_id), sim.push.subscribe(keys)
        subscribe(device, browser)
        idle(id_of(device), **age)
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


@pytest.mark.parametrize("end", END_ALL.values(), ids=END_ALL)
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
    assert end(owner).status_code == 200
    assert endpoints() == []
