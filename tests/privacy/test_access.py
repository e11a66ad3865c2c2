"""Tests of the access log. Every access to another person's data must be recorded."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity import access_log
from app.identity.access_log import AccessAction
from app.identity.care import CaregiverLink
from app.identity.models import RoleName, User
from app.identity.roles import roles_named
from app.logs.models import ActivityLog
from app.privacy.service import access
from tests.architecture.table import ACCESS
from tests.helpers.document import answer_fields
from tests.helpers.factories import as_caller, make_admin, make_superadmin, make_user
from tests.helpers.language import assert_readable
from tests.helpers.offenders import assert_none
from tests.pengingat import managed
from tests.privacy.answers import lines

ROUTE = "/profile/akses"


def actions(client):
    return sorted(row["action"] for row in lines(client))


# --- entries --------------------------------------------------------------------------------------------------------


def test_each_read_of_a_nik_is_one_entry(client, siti):
    siti.put("/profile", {"nik": "3273014502900001"})
    assert lines(siti) == []
    admin = client.as_(make_admin(nama_ktp="Rahasia Namanya"))
    for _ in range(2):
        admin.get(f"/admins/users/{siti.id}")
    rows = lines(siti)
    assert [row["action"] for row in rows].count("nik_read") == 2
    assert {row["who"] for row in rows} == {"Administrator"}
    assert all(set(row) == {"at", "who", "action", "reason"} and row["reason"] for row in rows)


def test_an_entry_of_a_caregiver_has_the_name_and_the_reason(client, siti):
    budi = make_user(RoleName.PENDAMPING, nama_ktp="Budi Santoso")
    access_log.record(as_caller(budi), siti.id, AccessAction.HISTORY_READ)
    access_log.record(as_caller(budi), siti.id, AccessAction.HISTORY_READ, "Kontrol besok")
    rows = lines(siti)
    assert {row["who"] for row in rows} == {"Budi Santoso"}
    assert {row["reason"] for row in rows} == {access.REASONS[AccessAction.HISTORY_READ], "Kontrol besok"}
    db.session.execute(sa.delete(User).where(User.id == budi.id))
    assert {row["who"] for row in lines(siti)} == {"Pendamping yang sudah tidak terdaftar"}


def test_lists_the_overview_and_exports_leave_no_entry(client, siti):
    admin = client.as_(make_admin())
    paths = ("/admins", "/admins/users", "/admins/caregiver-patient/all", "/admins/overview", "/admins/export/users")
    for path in paths:
        assert admin.get(path).status_code == 200
    assert lines(siti) == []


def test_the_number_of_statements_does_not_grow_with_the_entries(client, siti, statements):
    admin = as_caller(make_admin())
    for _ in range(30):
        access_log.record(admin, siti.id, AccessAction.NIK_READ)
    with statements.at_most(3):  # one SQL statement each for session, page and count
        siti.get(f"{ROUTE}?per_page=10")


def test_every_action_has_a_readable_indonesian_sentence():
    assert set(access.REASONS) == set(AccessAction)
    for text in (*access.REASONS.values(), *access.WHO.values()):
        assert_readable(text)


# --- completeness ---------------------------------------------------------------------------------------------------

#: Private fields. If a response can contain one of these, its route is in one of the tables below.
PRIVATE = {"email", "nomor_hp", "nik", "nama_samaran", "preferences"}


#: Routes that show another person's data, each with the expected access log entry and a function that calls the route.
SHOWING = {
    "GET /admins/<username>": ("profile_read", lambda _, user: (f"/admins/{user.username}", None)),
    "PUT /admins/<int:user_id>": ("profile_read", lambda _, user: (f"/admins/{user.id}", {"nama_ktp": "Baru"})),
    "GET /admins/users/<int:user_id>": ("nik_read", lambda _, user: (f"/admins/users/{user.id}", None)),
    "GET /admins/users/<int:user_id>/pengiriman": (
        "deliveries_read",
        lambda _, user: (f"/admins/users/{user.id}/pengiriman", None),
    ),
    "DELETE /admins/users/<int:user_id>/phone": (
        "profile_read",
        lambda _, user: (f"/admins/users/{user.id}/phone", {"reason": "Salah nomor."}),
    ),
    "PUT /admins/users/<int:user_id>": (
        "profile_read",
        lambda _, user: (f"/admins/users/{user.id}", {"is_verified": True}),
    ),
}

#: Routes whose responses leave no entry. The values say what the response contains.
SHOWING_NOTHING = {
    "GET /admins": "a list, without an entry",
    "GET /admins/users": "a list, without an entry",
    "GET /admins/caregiver-patient/all": "a list, without an entry",
    "GET /admins/caregiver-patient": "a list, without an entry",
    "GET /admins/overview": "numbers and the latest activities, without an entry",
    "GET /admins/export/<report>": "a file, without an entry",
    "POST /admins": "the administrator who adds somebody knows what they wrote",
    "DELETE /admins/<int:user_id>": "a message",
    "DELETE /admins/<int:user_id>/otp": "nothing",
    "DELETE /admins/users/<int:user_id>/sesi": "nothing",
    "GET /admins/overview/hari-ini": "numbers",
    "POST /admins/caregiver-patient": "ids alone",
    "DELETE /admins/caregiver-patient": "a message",
    "POST /admins/<int:user_id>/roles": "roles, which everybody may read",
    "DELETE /admins/<int:user_id>/roles": "roles, which everybody may read",
    "GET /admins/audit": "what privileged people did, and to whom: it is this log's own twin",
    "GET /admins/moderasi": "what is public, never more of an author than their post shows, and no reporter",
    "PUT /admins/moderasi/<int:case_id>": "the same",
    "GET /admins/operasi": "numbers",
    "PUT /admins/operasi/siaran": "numbers",
    "POST /superadmin/query": "anything, but SQL is in the audit log alone",
    "POST /superadmin/query/export": "the same",
    "GET /superadmin/tables": "names of tables",
    "GET /superadmin/tables/<table_name>": "rows, which no look at one person opens",
    "GET /superadmin/tables/<table_name>/export": "the same",
    "DELETE /caregiver/patients/<int:other_id>": "a message",
}

#: Routes that show only the caller's own data.
OWN = ("/profile", "/register", "/login", "/pengiriman")


def shows_others(route):
    """Return whether a route may show other people's data. A test checks that each such route is classified."""
    path = route.split(" ")[1]
    if path.startswith(OWN):
        return False
    if path.startswith("/pengingat") or "patient_id" in path:
        return True
    return path.startswith(("/admins", "/superadmin/", "/caregiver/patients/<")) and path != "/superadmin/login"


def test_every_route_that_can_show_others_data_is_classified():
    assert {route for route in ACCESS if shows_others(route)} == {
        *SHOWING,
        *SHOWING_NOTHING,
        # Other tests check the access log entries of these routes.
        *managed.READ,
        *managed.CHANGE,
    }


def test_no_other_route_has_private_fields_in_its_response(real_app):
    others = (r for r in ACCESS if not (r in SHOWING or r in SHOWING_NOTHING or r.split(" ")[1].startswith(OWN)))
    shown = {route: sorted(PRIVATE & answer_fields(*route.split(" "))) for route in others}
    assert_none(
        (f"{route} answers with {', '.join(fields)}" for route, fields in shown.items() if fields),
        "Leave a line in the access log, and add the route to SHOWING:",
    )


@pytest.mark.parametrize("route", SHOWING)
def test_a_route_that_shows_a_person_adds_an_access_log_entry(client, siti, route):
    action, call = SHOWING[route]
    siti.put("/profile", {"nik": "3273014502900001"})
    siti.user.roles = roles_named([RoleName.PASIEN, RoleName.PENDAMPING, RoleName.ADMIN])
    db.session.add(ActivityLog(created_at=now(), stream_id=sa.func.gen_random_uuid(), log="user", user_id=siti.id))
    db.session.add(CaregiverLink(caregiver_id=make_user(RoleName.PENDAMPING).id, patient_id=siti.id))
    path, body = call(client, siti.user)
    method = route.split(" ", maxsplit=1)[0]
    response = client.as_(make_superadmin()).open(method, path, body)
    assert response.status_code == 200, response.text
    assert action in actions(siti)
