"""Administrators look at people, search them, verify them and change their roles."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.clock import now
from app.identity.models import RoleName, User, UserDay
from app.identity.roles import roles_named
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_superadmin, make_user
from tests.helpers.statements import Statements

NIK = "3273014502900001"


def ids(*names: RoleName) -> list[int]:
    return [role.id for role in roles_named(names)]


def audited(admin: Client, **query: str) -> list[dict]:
    return admin.get("/admins/audit", query_string=query).json


# --- looking --------------------------------------------------------------------------------------------------------


def test_users_are_listed_newest_first_without_nik_and_preferences(admin: Client) -> None:
    make_user(username="siti", nik=NIK, preferences={"islam": True})
    response = admin.get("/admins/users")
    assert [row["username"] for row in response.json] == ["siti", "rina"]
    assert response.headers["X-Total-Count"] == "2"
    assert response.json[0]["roles"][0]["name"] == "pasien"
    assert not {"nik", "preferences", "password_hash"} & set(response.json[0])


def test_pseudonyms_stand_beside_no_names_but_in_the_detail_which_is_audited(admin: Client) -> None:
    siti = make_user(username="siti", nama_samaran="Melati")
    assert [row["nama_samaran"] for row in admin.get("/admins/users").json] == [None, None]
    assert [row["nama_samaran"] for row in admin.get("/admins/users?q=siti").json] == [None]
    assert admin.put(f"/admins/users/{siti.id}", {"is_verified": True}).json["nama_samaran"] is None
    assert audited(admin, action="pseudonym_read") == []
    assert admin.get(f"/admins/users/{siti.id}").json["nama_samaran"] == "Melati"
    (row,) = audited(admin, action="pseudonym_read")
    assert (row["actor"], row["subject"], row["details"]) == ("rina", f"user:{siti.id}", {"username": "siti"})


def test_every_page_is_found_whatever_day_its_people_came(admin: Client) -> None:
    for n in range(9):
        user = make_user(username=f"pasien{n}")
        user.created_at = now() - timedelta(days=n // 2, hours=n % 2)
    db.session.flush()
    usernames = db.session.scalars(sa.select(User.username).order_by(User.created_at.desc(), User.id.desc())).all()
    seen = []
    for page in range(1, 6):
        response = admin.get("/admins/users", query_string={"page": page, "per_page": 2})
        assert response.headers["X-Total-Count"] == "10"
        seen += [row["username"] for row in response.json]
    assert seen == list(usernames)
    assert admin.get("/admins/users", query_string={"page": 99, "per_page": 2}).json == []


def test_a_list_of_users_costs_the_same_however_many_there_are(admin: Client, statements: Statements) -> None:
    for _ in range(5):
        make_user()
    with statements.at_most(5):  # caller, the day of the page, its people, their roles, their access log
        assert len(admin.get("/admins/users").json) == 6


def test_the_counts_of_days_follow_insert_update_and_delete(admin: Client) -> None:
    def tallied() -> int:
        return db.session.scalar(sa.select(sa.func.sum(UserDay.users)))

    before = tallied()
    user = make_user()
    assert tallied() == before + 1
    user.created_at = now() - timedelta(days=40)
    db.session.flush()
    days = dict(db.session.execute(sa.select(UserDay.day, UserDay.users).where(UserDay.users > 0)).all())
    assert sum(days.values()) == before + 1
    assert len(days) == 2
    db.session.delete(user)
    db.session.flush()
    assert tallied() == before


@pytest.mark.parametrize("q", ["sit", "AMIN", "@contoh", "0812-55", "+62812550", "50%"])
def test_a_search_finds_a_part_of_name_email_or_phone(admin: Client, q: str) -> None:
    make_user(username="siti", nama_ktp="Siti Aminah 50%", email="s@contoh.id", nomor_hp="0812-5500-7700")
    make_user(username="lain", nama_ktp="Orang Lain", nomor_hp="081299990000")
    response = admin.get("/admins/users", query_string={"q": q})
    assert [row["username"] for row in response.json] == ["siti"]
    assert response.headers["X-Total-Count"] == "1"


def test_a_search_does_not_lift_a_pseudonym(admin: Client) -> None:
    make_user(nama_samaran="Melati Rahasia")
    assert admin.get("/admins/users", query_string={"q": "melati rahasia"}).json == []


def test_the_detail_shows_the_nik_and_the_audit_log_says_who_looked(admin: Client) -> None:
    siti = make_user(username="siti", nik=NIK)
    assert admin.get(f"/admins/users/{siti.id}").json["nik"] == NIK
    (row,) = audited(admin, action="nik_read")
    assert row["actor"] == "rina"
    assert row["subject"] == f"user:{siti.id}"
    assert row["ip"] == "127.0.0.1"
    assert NIK not in str(row)


def test_a_detail_without_a_nik_and_a_pseudonym_is_not_audited(admin: Client) -> None:
    siti = make_user(nama_samaran=None)
    assert admin.get(f"/admins/users/{siti.id}").json["nik"] is None
    assert audited(admin) == []


def test_an_unknown_person_is_not_found(admin: Client) -> None:
    assert_error(admin.get("/admins/users/999999"), 404)
    assert_error(admin.put("/admins/users/999999", {"is_verified": True}), 404)


@pytest.mark.parametrize("role", [RoleName.PASIEN, RoleName.PENDAMPING])
def test_only_administrators_see_users(client: Client, role: RoleName) -> None:
    stranger = client.as_(make_user(role))
    assert_error(stranger.get("/admins/users"), 403)
    assert_error(client.get("/admins/users"), 401)


# --- changing -------------------------------------------------------------------------------------------------------


def test_an_administrator_verifies_a_person(admin: Client) -> None:
    siti = make_user()
    response = admin.put(f"/admins/users/{siti.id}", {"is_verified": True})
    assert response.status_code == 200
    assert response.json["is_verified"] is True
    assert response.json["role_ids"] == ids(RoleName.PASIEN)


def test_roles_are_replaced_and_the_audit_log_says_which(admin: Client) -> None:
    siti = make_user(username="siti")
    response = admin.put(f"/admins/users/{siti.id}", {"role_ids": ids(RoleName.ADMIN, RoleName.PENDAMPING)})
    assert {role["name"] for role in response.json["roles"]} == {"admin", "pendamping"}
    (row,) = audited(admin, action="roles_changed")
    assert row["details"] == {"username": "siti", "given": ["admin", "pendamping"], "taken": ["pasien"]}


def test_a_removed_role_ends_its_rights_at_once(admin: Client, client: Client) -> None:
    other = make_admin()
    theirs = client.as_(other)
    assert theirs.get("/admins/users").status_code == 200
    assert admin.put(f"/admins/users/{other.id}", {"role_ids": ids(RoleName.PASIEN)}).status_code == 200
    assert_error(theirs.get("/admins/users"), 403)


def test_only_a_superadmin_gives_or_removes_superadmin(admin: Client, client: Client) -> None:
    siti, boss = make_user(), make_superadmin()
    superadmin = client.as_(make_superadmin())
    assert_error(admin.put(f"/admins/users/{siti.id}", {"role_ids": ids(RoleName.SUPERADMIN)}), 403, "superadmin_only")
    assert_error(admin.put(f"/admins/users/{boss.id}", {"is_verified": True}), 403, "superadmin_only")
    assert superadmin.put(f"/admins/users/{siti.id}", {"role_ids": ids(RoleName.SUPERADMIN)}).status_code == 200
    assert superadmin.put(f"/admins/users/{boss.id}", {"role_ids": ids(RoleName.PASIEN)}).status_code == 200


def test_the_last_administrator_stays_one(client: Client) -> None:
    only = make_admin()
    response = client.as_(only).put(f"/admins/users/{only.id}", {"role_ids": ids(RoleName.PASIEN)})
    assert_error(response, 409, "last_admin")


@pytest.mark.parametrize(
    ("body", "field"),
    [({"is_verified": "maybe"}, "is_verified"), ({"role_ids": "x"}, "role_ids"), ({"role_ids": [999999]}, "role_ids")],
)
def test_bad_changes_are_refused(admin: Client, body: dict, field: str) -> None:
    assert_error(admin.put(f"/admins/users/{make_user().id}", body), 400, "validation_error", field)
