"""Logins during a password change: no session of the old password may survive."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from app.core.database.session import unit_of_work
from app.identity import passwords, users
from app.identity.models import RoleName
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import PASSWORD, make_user

pytestmark = pytest.mark.processes

LOGINS = 5


@pytest.fixture
def verified(monkeypatch):
    """Make each login wait after its password check, until all password checks have ended and the event is set."""
    all_verified, go_on = Barrier(LOGINS + 1, timeout=PATIENCE_S), Event()
    matches = passwords.matches

    def matches_and_waits(password, stored):
        result = matches(password, stored)
        all_verified.wait()
        go_on.wait(PATIENCE_S)
        return result

    monkeypatch.setattr(passwords, "matches", matches_and_waits)
    return all_verified, go_on


@pytest.mark.parametrize("is_outdated", [False, True])
@pytest.mark.parametrize(
    ("path", "role"), [("/api/login", RoleName.PASIEN), ("/api/superadmin/login", RoleName.SUPERADMIN)]
)
def test_a_login_that_began_with_the_old_password_is_refused_and_stores_no_hash(
    committed, verified, monkeypatch, path, role, is_outdated
):
    """A login stores an outdated hash anew. It must not store the old password over the new one."""
    monkeypatch.setattr(passwords, "is_outdated", lambda _: is_outdated)
    all_verified, go_on = verified
    with unit_of_work():
        user_id = make_user(role, username="siti").id
    body = {"username": "siti", "password": PASSWORD}
    with ThreadPoolExecutor(LOGINS) as pool:
        logins = [pool.submit(committed.test_client().post, path, json=body) for _ in range(LOGINS)]
        all_verified.wait()
        with unit_of_work():
            users.set_password(users.get(user_id), "baru-sekali")
        with unit_of_work():
            new_hash = users.get(user_id).password_hash
        go_on.set()
    assert [login.result().status_code for login in logins] == [401] * LOGINS
    with unit_of_work():
        assert users.get(user_id).password_hash == new_hash
