"""What a patient allows a caregiver: nothing, until they say so."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound
from app.identity import care
from app.identity.care import Scope
from app.identity.models import RoleName, User
from app.notifications.models import Delivery, State
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user
from tests.notifications.conftest import add


@pytest.fixture
def budi(client: Client) -> User:
    return make_user(RoleName.PENDAMPING, username="budi")


@pytest.fixture
def siti(client: Client) -> User:
    return make_user(RoleName.PASIEN, username="siti")


@pytest.fixture
def as_budi(client: Client, budi: User, siti: User) -> Client:
    """Budi, who has linked Siti."""
    linked = client.as_(budi)
    assert linked.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201
    return linked


@pytest.fixture
def as_siti(client: Client, as_budi: Client, siti: User) -> Client:
    return client.as_(siti)


def test_a_new_link_allows_nothing(as_budi: Client, as_siti: Client, budi: User, siti: User) -> None:
    assert as_budi.get("/caregiver/patients").json[0]["scopes"] == []
    assert as_siti.get("/patient/caregivers").json[0]["scopes"] == []
    assert not any(care.allows(budi.id, siti.id, scope) for scope in Scope)


def test_the_patient_says_what_a_caregiver_may_do(as_budi: Client, as_siti: Client, budi: User, siti: User) -> None:
    response = as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["history", "alerts", "history"]})
    assert response.status_code == 200
    assert response.json == as_siti.get("/patient/caregivers").json[0]
    assert response.json["scopes"] == ["alerts", "history"]
    assert as_budi.get("/caregiver/patients").json[0]["scopes"] == ["alerts", "history"]
    assert all(care.allows(budi.id, siti.id, scope) for scope in (Scope.ALERTS, Scope.HISTORY))
    assert not care.allows(budi.id, siti.id, Scope.MANAGE)


def test_what_is_not_named_is_allowed_no_more(as_siti: Client, budi: User, siti: User) -> None:
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["history", "manage"]})
    assert as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": []}).json["scopes"] == []
    for check in (care.check, care.check_locked):
        with pytest.raises(NotFound):
            check(budi.id, siti.id, Scope.MANAGE)


def test_nobody_but_the_patient_gives_a_scope(client: Client, as_budi: Client, budi: User, siti: User) -> None:
    for other in (as_budi, client.as_(make_user()), client.as_(make_admin())):
        for of in (budi, siti):
            assert_error(other.put(f"/patient/caregivers/{of.id}", {"scopes": ["manage"]}), 404)
    assert not care.allows(budi.id, siti.id, Scope.MANAGE)


def test_a_scope_is_given_to_one_caregiver_alone(client: Client, as_siti: Client, budi: User, siti: User) -> None:
    ani = make_user(RoleName.PENDAMPING)
    client.as_(ani).post("/caregiver/patients", {"patient_id": siti.id})
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["history"]})
    assert [care.allows(one.id, siti.id, Scope.HISTORY) for one in (budi, ani)] == [True, False]


def test_a_link_that_is_made_again_allows_nothing(as_budi: Client, as_siti: Client, budi: User, siti: User) -> None:
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["manage"]})
    as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    assert care.allows(budi.id, siti.id, Scope.MANAGE)
    as_siti.delete(f"/caregiver/patients/{budi.id}")
    as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    assert not care.allows(budi.id, siti.id, Scope.MANAGE)


@pytest.mark.parametrize(
    "body", [{}, {"scopes": None}, {"scopes": "manage"}, {"scopes": ["all"]}, {"scopes": [None]}, {"scopes": [1]}]
)
def test_a_wrong_scope_is_bad_input(as_siti: Client, budi: User, body: dict[str, Any]) -> None:
    assert_error(as_siti.put(f"/patient/caregivers/{budi.id}", body), 400, "validation_error", "scopes")


def test_an_unknown_caregiver_is_not_found(as_siti: Client) -> None:
    assert_error(as_siti.put("/patient/caregivers/999999", {"scopes": []}), 404)


@pytest.mark.parametrize("way", ["the scope", "the link, by the patient", "the link, by the caregiver"])
def test_what_is_queued_for_a_caregiver_ends_with_the_consent(
    as_budi: Client, as_siti: Client, budi: User, siti: User, way: str
) -> None:
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["alerts", "history"]})
    subject = care.subject(budi.id, siti.id)
    add(dedupe_key="a", user_id=budi.id, subject=subject)
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["alerts"]})
    assert _state() == State.PENDING
    if way == "the scope":
        as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["history"]})
    elif way == "the link, by the patient":
        as_siti.delete(f"/caregiver/patients/{budi.id}")
    else:
        as_budi.delete(f"/caregiver/patients/{siti.id}")
    assert _state() == State.CANCELLED


def _state() -> str | None:
    return db.session.scalar(sa.select(Delivery.state).where(Delivery.dedupe_key == "a"))
