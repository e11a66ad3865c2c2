"""The access log: entries for accesses to another person's data."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import access_log
from app.identity.access_log import AccessAction, AccessLogEntry
from app.identity.models import RoleName, User
from tests.helpers.factories import as_caller, make_admin, make_user


def entries():
    columns = (AccessLogEntry.user_id, AccessLogEntry.actor_id, AccessLogEntry.actor_role, AccessLogEntry.action)
    return [tuple(row) for row in db.session.execute(sa.select(*columns, AccessLogEntry.reason).order_by("id"))]


@pytest.fixture
def patient(app):
    return make_user()


def test_an_admin_caregiver_is_logged_with_the_role_that_fits_the_action(patient):
    both = as_caller(make_user(RoleName.PENDAMPING, RoleName.ADMIN))
    access_log.record(both, patient.id, AccessAction.HISTORY_READ)
    access_log.record(both, patient.id, AccessAction.NIK_READ)
    assert [row[2] for row in entries()] == ["pendamping", "admin"]


def test_an_access_to_ones_own_data_is_not_logged(patient):
    access_log.record(as_caller(patient), patient.id, AccessAction.PROFILE_READ)
    assert entries() == []


def test_an_admin_profile_read_logs_a_nik_read_only_if_a_nik_exists(client, app):
    admin = make_admin()
    with_nik, without = make_user(nik="3273014502900001"), make_user()
    for user in (with_nik, without):
        assert client.as_(admin).get(f"/admins/users/{user.id}").status_code == 200
    assert [(row[0], row[3]) for row in entries()] == [
        (with_nik.id, "profile_read"),
        (with_nik.id, "nik_read"),
        (without.id, "profile_read"),
    ]


def test_access_entries_are_deleted_with_the_subject_but_not_with_the_actor(app, patient):
    caregiver = make_user(RoleName.PENDAMPING)
    access_log.record(as_caller(caregiver), patient.id, AccessAction.HISTORY_READ)
    db.session.execute(sa.delete(User).where(User.id == caregiver.id))
    assert entries() == [(patient.id, None, "pendamping", "history_read", None)]
    db.session.execute(sa.delete(User).where(User.id == patient.id))
    assert entries() == []
