"""Administrators link caregivers and patients."""

from __future__ import annotations

import pytest

from app.identity.models import RoleName, User
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.statements import Statements

PATH = "/admins/caregiver-patient"


@pytest.fixture
def budi() -> User:
    return make_user(RoleName.PENDAMPING, username="budi")


@pytest.fixture
def siti() -> User:
    return make_user(username="siti")


def both(budi: User, siti: User) -> dict[str, int]:
    return {"caregiver_id": budi.id, "patient_id": siti.id}


def test_a_link_is_created_once(admin: Client, budi: User, siti: User) -> None:
    first, second = admin.post(PATH, both(budi, siti)), admin.post(PATH, both(budi, siti))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json == second.json
    assert set(first.json) == {"id", "caregiver_id", "patient_id", "created_at"}


def test_roles_must_match(admin: Client, budi: User, siti: User) -> None:
    assert_error(admin.post(PATH, {"caregiver_id": siti.id, "patient_id": budi.id}), 400, "role_mismatch")
    assert_error(admin.post(PATH, {"caregiver_id": budi.id, "patient_id": budi.id}), 400, "same_person")
    assert_error(admin.post(PATH, {"caregiver_id": budi.id, "patient_id": 999999}), 404)
    assert_error(admin.post(PATH, {"caregiver_id": budi.id}), 400, "validation_error", "patient_id")


def test_the_patients_of_a_caregiver_are_listed(admin: Client, budi: User, siti: User) -> None:
    admin.post(PATH, both(budi, siti))
    (row,) = admin.get(PATH, query_string={"caregiver_id": budi.id}).json
    assert row["username"] == "siti"
    assert {"link_id", "linked_at"} <= set(row)
    for q, found in (("SIT", 1), (siti.nama_ktp, 1), ("budi", 0), ("%", 0)):
        assert len(admin.get(PATH, query_string={"caregiver_id": budi.id, "q": q}).json) == found
    assert_error(admin.get(PATH), 400, "validation_error", "caregiver_id")


def test_all_relations_come_with_both_people_in_one_statement(
    admin: Client, budi: User, siti: User, statements: Statements
) -> None:
    admin.post(PATH, both(budi, siti))
    admin.post(PATH, both(budi, make_user()))
    with statements.at_most(3):  # caller, links with people, their access log
        rows = admin.get(f"{PATH}/all").json
    assert len(rows) == 2
    assert rows[1]["caregiver"]["username"] == "budi"
    assert rows[1]["patient"]["username"] == "siti"
    assert [row["patient_id"] for row in admin.get(f"{PATH}/all?q=siti").json] == [siti.id]


def test_a_link_is_deleted_and_audited(admin: Client, budi: User, siti: User) -> None:
    admin.post(PATH, both(budi, siti))
    assert admin.delete(PATH, both(budi, siti)).status_code == 200
    assert_error(admin.delete(PATH, both(budi, siti)), 404)
    assert admin.get(f"{PATH}/all").json == []
    (row,) = admin.get("/admins/audit").json
    assert (row["action"], row["subject"]) == ("deleted", f"caregiver_link:{budi.id}:{siti.id}")


def test_caregivers_do_not_administer_links(client: Client, budi: User, siti: User) -> None:
    assert_error(client.as_(budi).post(PATH, both(budi, siti)), 403)
