"""Logins during a password change: no session of the old password may survive."""

from threading import Barrier, Event, Thread

import pytest

from app.core.database.session import unit_of_work
from app.identity import passwords, users
from app.identity.models import RoleName
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import PASSWORD, make_user

pytestmark = pytest.mark.processes

LOGINS = 5


def register(role=RoleName.PASIEN):
    with unit_of_work():
        return make_user(role, username="siti").id


def change_password(user_id, password):
    with unit_of_work():
        users.set_password(users.get(user_id), password)


class Logins:
    """Threads that log in at the same time with the old password."""

    def __init__(self, app, path="/api/login"):
        self.app, self.path = app, path
        self.statuses = []
        self._threads = [Thread(target=self._log_in) for _ in range(LOGINS)]

    def start(self):
        for thread in self._threads:
            thread.start()

    def join(self):
        for thread in self._threads:
            thread.join()

    def _log_in(self):
        body = {"username": "siti", "password": PASSWORD}
        response = self.app.test_client().post(self.path, json=body)
        self.statuses.append(response.status_code)


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


@pytest.mark.parametrize(
    ("path", "role"), [("/api/login", RoleName.PASIEN), ("/api/superadmin/login", RoleName.SUPERADMIN)]
)
def test_a_login_that_began_with_the_old_password_is_refused(committed, verified, path, role):
    all_verified, go_on = verified
    user_id = register(role)
    logins = Logins(committed, path)
    logins.start()
    all_verified.wait()
    change_password(user_id, "baru-sekali")
    go_on.set()
    logins.join()
    assert logins.statuses == [401] * LOGINS


def test_a_concurrent_rehash_does_not_restore_the_old_password(committed, verified, monkeypatch):
    monkeypatch.setattr(passwords, "is_outdated", lambda _: True)
    all_verified, go_on = verified
    user_id = register()
    logins = Logins(committed)
    logins.start()
    all_verified.wait()
    change_password(user_id, "baru-sekali")
    new_hash = _stored_hash(user_id)
    go_on.set()
    logins.join()
    assert logins.statuses == [401] * LOGINS
    assert _stored_hash(user_id) == new_hash


def _stored_hash(user_id):
    with unit_of_work():
        return users.get(user_id).password_hash
