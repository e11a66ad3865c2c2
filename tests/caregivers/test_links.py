"""Caregivers and patients."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.models import RoleName, User
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user

PERSON = {"id", "username", "nama_ktp", "image", "domicile"}


@pytest.fixture
def budi(client: Client) -> User:
    return make_user(RoleName.PENDAMPING, username="budi")


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(RoleName.PASIEN, username="siti", email="siti@example.com", domicile="Bali")


def test_a_caregiver_links_a_patient_and_both_see_it(as_budi: Client, as_siti: Client, budi: User, siti: User) -> None:
    created = as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    assert created.status_code == 201
    assert set(created.json) == {"id", "caregiver_id", "patient_id", "created_at"}
    (patient,) = as_budi.get("/caregiver/patients").json
    assert set(patient) == PERSON | {"link_id", "linked_at", "scopes"}
    assert (patient["id"], patient["link_id"], patient["domicile"]) == (siti.id, created.json["id"], "Bali")
    (caregiver,) = as_siti.get("/patient/caregivers").json
    assert (caregiver["username"], caregiver["linked_at"]) == ("budi", created.json["created_at"])


def test_a_link_that_exists_is_returned(as_budi: Client, siti: User) -> None:
    first = as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    again = as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    assert (again.status_code, again.json) == (200, first.json)
    assert len(as_budi.get("/caregiver/patients").json) == 1


def test_either_side_cuts_the_link(as_budi: Client, as_siti: Client, budi: User, siti: User) -> None:
    for cutter, other in ((as_budi, siti), (as_siti, budi)):
        as_budi.post("/caregiver/patients", {"patient_id": siti.id})
        assert cutter.delete(f"/caregiver/patients/{other.id}").status_code == 200
        assert as_budi.get("/caregiver/patients").json == []
        assert_error(cutter.delete(f"/caregiver/patients/{other.id}"), 404)


def test_of_two_who_care_for_each_other_one_link_is_cut(client: Client) -> None:
    both = [make_user(RoleName.PASIEN, RoleName.PENDAMPING, username=name) for name in ("ani", "bayu")]
    ani, bayu = map(client.as_, both)
    ani.post("/caregiver/patients", {"patient_id": both[1].id})
    bayu.post("/caregiver/patients", {"patient_id": both[0].id})
    assert ani.delete(f"/caregiver/patients/{both[1].id}").status_code == 200
    assert (ani.get("/caregiver/patients").json, ani.get("/patient/caregivers").json[0]["username"]) == ([], "bayu")
    assert ani.delete(f"/caregiver/patients/{both[1].id}").status_code == 200  # now the one from the other side
    assert bayu.get("/caregiver/patients").json == []


def test_a_stranger_cuts_nothing(client: Client, as_budi: Client, budi: User, siti: User) -> None:
    as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    for stranger in (make_user(RoleName.PENDAMPING), make_user(RoleName.PASIEN), make_admin()):
        for other in (budi, siti):
            assert_error(client.as_(stranger).delete(f"/caregiver/patients/{other.id}"), 404)
    assert len(as_budi.get("/caregiver/patients").json) == 1


def test_roles_that_do_not_match_are_refused(client: Client, as_budi: Client, as_siti: Client, siti: User) -> None:
    colleague = make_user(RoleName.PENDAMPING)
    assert_error(as_budi.post("/caregiver/patients", {"patient_id": colleague.id}), 400, "role_mismatch")
    assert_error(as_siti.post("/caregiver/patients", {"patient_id": siti.id}), 403, "forbidden")


def test_nobody_cares_for_themselves_by_link(client: Client) -> None:
    both = make_user(RoleName.PENDAMPING, RoleName.PASIEN)
    assert_error(client.as_(both).post("/caregiver/patients", {"patient_id": both.id}), 400, "same_person")


@pytest.mark.parametrize(
    "body", [{}, {"patient_id": "x"}, {"patient_id": None}, {"patient_id": -1}, {"patient_id": 2**63}]
)
def test_a_wrong_patient_is_bad_input(as_budi: Client, body: dict[str, Any]) -> None:
    assert_error(as_budi.post("/caregiver/patients", body), 400, "validation_error", "patient_id")


def test_an_unknown_patient_is_not_found(as_budi: Client) -> None:
    assert_error(as_budi.post("/caregiver/patients", {"patient_id": 999999}), 404)


def test_lists_of_people_tell_nothing_private(as_siti: Client, budi: User, siti: User) -> None:
    patients = as_siti.get("/patients").json
    assert [person["username"] for person in patients] == ["siti"]
    assert set(patients[0]) == PERSON
    assert [person["username"] for person in as_siti.get("/caregivers").json] == ["budi"]


def test_lists_of_people_cost_the_same_however_long(as_siti: Client, statements: Any) -> None:
    for _ in range(15):
        make_user(RoleName.PASIEN)
    with statements.at_most(4):  # the session, the role, the page, the count
        assert len(as_siti.get("/patients?per_page=10").json) == 10
    with statements.at_most(2):
        assert as_siti.get("/patient/caregivers").json == []


def test_all_of_it_needs_a_token(client: Client) -> None:
    for path in ("/caregiver/patients", "/patient/caregivers", "/patients", "/caregivers"):
        assert_error(client.get(path), 401)
    assert_error(client.post("/caregiver/patients", {"patient_id": 1}), 401)
    assert_error(client.delete("/caregiver/patients/1"), 401)
