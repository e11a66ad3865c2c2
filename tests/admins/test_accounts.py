"""Tests of staff accounts, which administrators create for each other, and of all other administrators."""

import re

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import credentials
from app.identity.models import RoleName, User
from app.identity.roles import roles_named
from app.notifications.models import Delivery
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin
from tests.helpers.role_ids import role_ids
from tests.notifications.deliveries import words_of

FORM = {"email": "Rina.Wijaya@contoh.id", "password": PASSWORD, "nama_ktp": "Rina Wijaya"}
DELETED, DEMOTED = "Administrator dihapus.", "Peran administrator dicabut. Akunnya tetap ada."


@pytest.fixture
def staff(admin):
    """An account that an administrator has created."""
    return db.session.get_one(User, admin.post("/admins", FORM).json["id"])


@pytest.fixture
def registered(client):
    """A patient who registered and is an administrator now."""
    body = {"username": "siti", "password": "milik-siti", "nama_ktp": "Siti", "nama_samaran": "Melati"}
    client.post("/register", {**body, "nomor_hp": "081234567890"})
    user = credentials.by_login("siti")
    assert user is not None
    user.roles = roles_named([RoleName.ADMIN])
    db.session.flush()
    return user


def test_a_username_is_derived_from_the_email(admin):
    for email, username in (
        ("ani@contoh.id", "ani"),
        ("Ani.S+kantor@contoh.id", r"ani\.s"),
        ("rina@contoh.id", r"rina\d{4}"),
        ("users@contoh.id", r"admin\.users"),
        ("12@contoh.id", r"admin\.12"),
        ("é@contoh.id", "admin"),
    ):
        created = admin.post("/admins/", {**FORM, "email": email, "username": ""}).json
        assert re.fullmatch(username, created["username"]), created
    for username, status in (("rw_01", 201), ("users", 400)):
        made = admin.post("/admins/", {**FORM, "email": "rw@contoh.id", "username": username})
        assert made.status_code == status, made.json


def test_a_form_with_empty_email_and_phone_is_accepted(admin):
    first = make_admin(username="pertama", email=None, nomor_hp=None)
    form = {"username": "pertama", "email": "", "nomor_hp": "", "password": "", "nama_ktp": "Yang Pertama"}
    body = admin.put(f"/admins/{first.id}", data=form, content_type="multipart/form-data").ok()
    assert (body["nama_ktp"], body["email"]) == ("Yang Pertama", None)


# --- staff accounts and all others ----------------------------------------------------------------------------------


def test_an_administrator_sets_the_password_of_a_staff_account(admin, client, staff):
    theirs = client.as_(staff)
    changes = {"password": "sandi-baru", "nomor_hp": "081311112222"}
    assert admin.put(f"/admins/{staff.id}", changes).status_code == 200
    assert_error(theirs.get("/profile"), 401, "session_ended")
    (told,) = db.session.scalars(sa.select(Delivery).filter_by(user_id=staff.id))
    assert words_of(told)["text"].startswith("Data akun Anda baru saja diubah: kata sandi")


def test_only_a_superadmin_sets_the_login_of_another_account(admin, superadmin, registered):
    path = f"/admins/{registered.id}"
    changes = {"nomor_hp": "081311112222"}, {"nomor_hp": None}, {"password": "milik-bos"}
    for change in changes:
        assert_error(admin.put(path, {"nama_ktp": "S", **change}), 403, "superadmin_only")
    assert credentials.authenticate("siti", "milik-siti") is registered
    same = {"nama_ktp": "Siti A.", "nomor_hp": "+62 812 3456 7890", "email": "siti@contoh.id"}
    assert admin.put(path, same).status_code == 200
    for change in changes:
        assert superadmin.put(path, change).status_code == 200


def test_administrators_change_their_own_login(client, registered):
    phone, laptop = client.as_(registered), client.as_(registered)
    assert phone.put(f"/admins/{registered.id}", {"password": "baru-sekali"}).status_code == 200
    assert phone.get("/profile").status_code == 200
    assert laptop.get("/profile").status_code == 401


def test_changing_own_login_data_requires_the_current_password(client, change_settings):
    change_settings(profile_reauth="required")
    rina = make_admin(email="rina@contoh.id")
    own, url = client.as_(rina), f"/admins/{rina.id}"
    for change in ({"email": "m@contoh.id"}, {"nomor_hp": "0813111122"}, {"password": "milik-maling"}):
        assert_error(own.put(url, change), 400, "current_password_required")
        assert_error(own.put(url, {**change, "current_password": "salah-sekali"}), 400, "wrong_current_password")
        assert own.put(url, {**change, "current_password": PASSWORD}).status_code == 200
    assert own.put(url, {"nama_ktp": "Rina W."}).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        ("PUT", "/admins/users/{id}", [RoleName.ADMIN, RoleName.PENDAMPING]),
        ("POST", "/admins/{id}/roles", [RoleName.PASIEN]),
        ("PUT", "/admins/{id}", RoleName.SUPERADMIN),
        ("own", "/profile", [RoleName.PASIEN]),
        ("command", "pasien", None),
    ],
)
def test_the_first_other_role_ends_a_staff_account_for_good(app, client, superadmin, staff, given):
    method, path, names = given
    if method == "command":
        assert app.test_cli_runner().invoke(args=["users", "set-role", staff.username, path]).exit_code == 0
    else:
        body = {"role": names} if isinstance(names, str) else {"role_ids": role_ids(*names)}
        by, method = (client.as_(staff), "PUT") if method == "own" else (superadmin, method)
        assert by.open(method, path.format(id=staff.id), json=body).status_code == 200
    assert superadmin.put(f"/admins/users/{staff.id}", {"role_ids": role_ids(RoleName.ADMIN)}).status_code == 200
    make_admin()
    theirs = client.as_(staff)
    assert superadmin.delete(f"/admins/{staff.id}").json == {"message": DEMOTED}
    assert_error(theirs.get("/profile"), 401)
    assert superadmin.get(f"/admins/users/{staff.id}").json["role"] == "pasien"
    assert_error(superadmin.delete(f"/admins/{staff.id}"), 404)


def test_a_staff_account_is_deleted(admin, client, staff):
    staff_id, theirs = staff.id, client.as_(staff)
    admin.delete(f"/admins/{staff_id}/roles", {"role_ids": role_ids(RoleName.ADMIN)})
    admin.post(f"/admins/{staff_id}/roles", {"role_ids": role_ids(RoleName.ADMIN)})
    assert admin.delete(f"/admins/{staff_id}").json == {"message": DELETED}
    assert db.session.get(User, staff_id) is None
    assert_error(theirs.get("/profile"), 401)
    row = admin.get("/admins/audit?action=deleted").json[0]
    assert (row["actor"], row["details"]) == ("rina", {"roles": ["admin"]})


@pytest.mark.parametrize("roles", [[RoleName.ADMIN], [RoleName.ADMIN, RoleName.PENDAMPING], [RoleName.SUPERADMIN]])
def test_every_other_administrator_keeps_the_account(client, superadmin, registered, roles):
    make_admin()
    registered.roles = roles_named(roles)
    db.session.flush()
    session = client.as_(registered)
    assert superadmin.delete(f"/admins/{registered.id}").json == {"message": DEMOTED}
    assert registered.role_names == (set(roles) - {RoleName.ADMIN, RoleName.SUPERADMIN} or {RoleName.PASIEN})
    assert_error(session.get("/profile"), 401)
    assert credentials.authenticate("siti", "milik-siti") is registered


def test_nobody_is_told_of_changed_roles(admin, registered):
    admin.put(f"/admins/users/{registered.id}", {"role_ids": role_ids(RoleName.PASIEN, RoleName.PENDAMPING)})
    assert db.session.scalars(sa.select(Delivery)).all() == []
