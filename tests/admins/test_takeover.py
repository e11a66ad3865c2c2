"""An administrator cannot take over a patient's account, and role changes send a notice."""

from __future__ import annotations

import dataclasses
from uuid import uuid4

import pytest
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.identity import credentials
from app.identity.models import Role, RoleName, SessionKind, User
from app.identity.sessions import Caller
from app.notifications.models import Delivery
from app.roles import service as roles
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.helpers.overlap import done_twice_at_once
from tests.notifications.deliveries import words_of

REGISTRATION = {"username": "siti", "password": "milik-siti", "nama_ktp": "Siti", "nama_samaran": "Melati",
                "nomor_hp": "081234567890"}  # fmt: skip
PHONE = "+6281234567890"


@pytest.fixture
def registered(client: Client) -> User:
    assert client.post("/register", REGISTRATION).status_code == 201
    user = credentials.by_login("siti")
    assert user is not None
    return user


def role_id(name: RoleName) -> int:
    return db.session.scalars(db.select(Role.id).where(Role.name == name)).one()


def texts() -> list[tuple[int | None, str | None, str]]:
    rows = db.session.scalars(db.select(Delivery).order_by(Delivery.id))
    return [(row.user_id, row.target, words_of(row)["text"]) for row in rows]


def promote(admin: Client, user: User) -> None:
    url = f"/admins/{user.id}/roles"
    assert admin.post(url, {"role_ids": [role_id(RoleName.ADMIN)]}).status_code == 200


def test_a_promoted_patient_deleted_as_administrator_keeps_the_account(
    client: Client, admin: Client, registered: User
) -> None:
    """A patient is promoted to administrator and later deleted as administrator. The patient's account must stay."""
    promote(admin, registered)
    session = client.as_(registered)
    kept = {"message": "Peran administrator dicabut. Akunnya tetap ada."}
    assert admin.delete(f"/admins/{registered.id}").json == kept
    assert_error(admin.get("/admins/siti"), 404)
    assert registered.role_names == {RoleName.PASIEN}
    assert_error(session.get("/profile"), 401)
    assert texts()[-1][2].startswith("Peran akun Anda baru saja diubah. Peran yang dicabut: admin.")
    assert credentials.authenticate("siti", "milik-siti") is registered
    assert_error(admin.delete(f"/admins/{registered.id}"), 404)
    promote(admin, registered)
    superadmin = client.as_(make_superadmin())
    assert superadmin.delete(f"/admins/{registered.id}").json == kept
    assert credentials.authenticate("siti", "milik-siti") is registered


@pytest.mark.parametrize("change", [{"password": "milik-bos"}, {"nomor_hp": "081311112222"}, {"nomor_hp": None}])
def test_administrators_cannot_change_the_login_of_a_registered_account(
    admin: Client, registered: User, change: dict[str, str | None]
) -> None:
    promote(admin, registered)
    assert_error(admin.put(f"/admins/{registered.id}", {"nama_ktp": "S", **change}), 403, "owner_only")
    assert credentials.authenticate("siti", "milik-siti") is registered
    assert registered.phone == PHONE


def test_a_superadmin_cannot_change_the_password_of_a_registered_account(
    client: Client, admin: Client, registered: User
) -> None:
    promote(admin, registered)
    superadmin = client.as_superadmin(make_superadmin())
    assert_error(superadmin.put(f"/admins/{registered.id}", {"password": "milik-bos"}), 403, "owner_only")


def test_the_name_of_a_registered_account_can_be_changed(admin: Client, registered: User) -> None:
    promote(admin, registered)
    same = {"nama_ktp": "Siti A.", "nomor_hp": "+62 812 3456 7890"}
    assert admin.put(f"/admins/{registered.id}", same).status_code == 200


def test_the_owner_can_change_the_own_password_by_the_admin_route(
    client: Client, admin: Client, registered: User
) -> None:
    promote(admin, registered)
    as_siti, laptop = client.as_(registered), client.as_(registered)
    assert as_siti.put(f"/admins/{registered.id}", {"password": "baru-sekali"}).status_code == 200
    assert as_siti.get("/profile").status_code == 200
    assert laptop.get("/profile").status_code == 401


@pytest.mark.parametrize(
    "change", [{"password": "milik-maling"}, {"email": "m@example.com"}, {"nomor_hp": "0813111122"}]
)
def test_changing_own_login_data_requires_the_current_password(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    config = dataclasses.replace(app.extensions["config"], profile_reauth="required")
    monkeypatch.setitem(app.extensions, "config", config)
    rina = make_admin(email="rina@example.com")
    own, url = client.as_(rina), f"/admins/{rina.id}"
    assert_error(own.put(url, change), 400, "current_password_required")
    wrong = {**change, "current_password": "salah-sekali"}
    assert_error(own.put(url, wrong), 400, "wrong_current_password")
    assert own.put(url, {**change, "current_password": PASSWORD}).status_code == 200
    assert own.put(url, {"nama_ktp": "Rina W."}).status_code == 200


def test_a_password_set_for_an_added_administrator_is_notified(admin: Client) -> None:
    body = {"email": "rina@contoh.id", "password": "milik-rina", "nama_ktp": "Rina", "nomor_hp": "081311112222"}
    rina_id = admin.post("/admins", body).json["id"]
    assert admin.put(f"/admins/{rina_id}", {"password": "sandi-baru"}).status_code == 200
    (told,) = texts()
    assert told[:2] == (rina_id, "+6281311112222")
    assert told[2].startswith("Data akun Anda baru saja diubah: kata sandi.")


def test_a_person_is_notified_of_added_and_removed_roles(admin: Client, registered: User) -> None:
    promote(admin, registered)
    promote(admin, registered)
    admin.put(f"/admins/users/{registered.id}", {"role_ids": [role_id(RoleName.PASIEN), role_id(RoleName.PENDAMPING)]})
    admin.delete(f"/admins/{registered.id}/roles", {"role_ids": [role_id(RoleName.PENDAMPING)]})
    assert [text for user_id, _, text in texts() if user_id == registered.id] == [
        f"Peran akun Anda baru saja diubah. {change}"
        for change in (
            "Peran yang ditambahkan: admin.",
            "Peran yang ditambahkan: pendamping. Peran yang dicabut: admin.",
            "Peran yang dicabut: pendamping.",
        )
    ]


def test_adding_a_role_twice_concurrently_sends_one_notice(committed: Flask) -> None:
    with unit_of_work():
        user_id, bos = make_user().id, make_admin()
        by = Caller(bos.id, frozenset(bos.role_names), uuid4(), SessionKind.USER)
        pendamping = role_id(RoleName.PENDAMPING)
    done_twice_at_once(committed, lambda: roles.add_to_user(user_id, [pendamping], by)).result()
    assert len(texts()) == 1


def test_a_concurrent_removal_and_addition_of_a_role_send_two_notices(committed: Flask) -> None:
    with unit_of_work():
        user_id, bos = make_user().id, make_admin()
        by = Caller(bos.id, frozenset(bos.role_names), uuid4(), SessionKind.USER)
        pasien = role_id(RoleName.PASIEN)
    steps = [roles.remove_from_user, roles.add_to_user]
    done_twice_at_once(committed, lambda: steps.pop(0)(user_id, [pasien], by)).result()
    assert ["dicabut: pasien" in text for _, _, text in texts()] == [True, False]
    assert "ditambahkan: pasien" in texts()[-1][2]


def test_a_promotion_to_superadmin_is_notified(client: Client, admin: Client) -> None:
    rina = make_admin()
    superadmin = client.as_superadmin(make_superadmin())
    assert superadmin.put(f"/admins/{rina.id}", {"role": "superadmin"}).status_code == 200
    ((user_id, _, text),) = texts()
    assert user_id == rina.id
    assert "ditambahkan: superadmin" in text


def test_a_role_set_by_the_command_line_is_notified(app: Flask, client: Client) -> None:
    user = make_user(username="joko")
    db.session.commit()
    result = app.test_cli_runner().invoke(args=["users", "set-role", "joko", "admin"])
    assert result.exit_code == 0, result.output
    ((user_id, _, text),) = texts()
    assert user_id == user.id
    assert "ditambahkan: admin" in text


def test_changing_the_own_roles_sends_no_notice(client: Client, registered: User) -> None:
    both = [role_id(RoleName.PASIEN), role_id(RoleName.PENDAMPING)]
    assert client.as_(registered).put("/profile", {"role_ids": both}).status_code == 200
    assert texts() == []


def test_a_link_in_a_role_name_is_broken(admin: Client, siti: Client) -> None:
    for name in ("relawan klaim.help", "bank.support"):
        role = admin.post("/roles", {"name": name}).json
        admin.put(f"/admins/users/{siti.id}", {"role_ids": [role_id(RoleName.PASIEN), role["id"]]})
    said = [text for user_id, _, text in texts() if user_id == siti.id]
    assert "Peran yang ditambahkan: relawan klaim. help." in said[0]
    assert "Peran yang ditambahkan: bank. support." in said[1]
