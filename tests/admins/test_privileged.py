"""Roles of administrators and super-admins, on all routes that change them."""

from app.identity.models import RoleName
from tests.admins.factors import set_up
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.helpers.role_ids import role_ids
from tests.routes.requests import undone

STAFF = {"email": "ani@contoh.id", "password": PASSWORD, "nama_ktp": "Ani"}


def roles(name):
    return {"role_ids": role_ids(name)}


def test_only_a_superadmin_changes_superadmins_and_gives_or_takes_their_role(client, admin, superadmin, subtests):
    person, rina, boss = make_user().id, make_admin(), make_superadmin().id
    set_up(client.as_(rina))
    why = {"reason": "x"}
    for method, path, body in (
        ("POST", "/admins", {**STAFF, "role": "superadmin"}),
        ("PUT", f"/admins/{rina.id}", {"role": "superadmin"}),
        ("PUT", f"/admins/{boss}", {"nama_ktp": "X"}),
        ("DELETE", f"/admins/{boss}", None),
        ("DELETE", f"/admins/{rina.id}/otp", {**why, "password": PASSWORD}),
        ("POST", f"/admins/{person}/roles", roles(RoleName.SUPERADMIN)),
        ("POST", f"/admins/{boss}/roles", roles(RoleName.PASIEN)),
        ("DELETE", f"/admins/{boss}/roles", roles(RoleName.SUPERADMIN)),
        ("PUT", f"/admins/users/{person}", roles(RoleName.SUPERADMIN)),
        ("PUT", f"/admins/users/{boss}", {"is_verified": True}),
        ("PUT", f"/admins/users/{boss}", roles(RoleName.PASIEN)),
        ("DELETE", f"/admins/users/{boss}/sesi", why),
    ):
        with subtests.test(f"{method} {path} {list(body or ())}"), undone():
            assert_error(admin.open(method, path, body), 403, "superadmin_only")
            allowed = superadmin.open(method, path, body)
            assert allowed.status_code in (200, 201, 204), allowed.text


def test_the_last_administrator_keeps_the_role(superadmin):
    only = make_admin().id
    for method, path, body in (
        ("DELETE", f"/admins/{only}", None),
        ("DELETE", f"/admins/{only}/roles", roles(RoleName.ADMIN)),
        ("PUT", f"/admins/users/{only}", roles(RoleName.PASIEN)),
    ):
        assert_error(superadmin.open(method, path, body), 409, "last_admin")
