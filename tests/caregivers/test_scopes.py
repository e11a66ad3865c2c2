"""Tests of scopes: the rights that a patient gives a caregiver. A new link has none."""

import pytest

from app.core.errors import NotFound
from app.identity import care
from app.identity.care import Scope
from app.identity.models import RoleName
from tests.helpers.factories import make_user


def test_a_scope_missing_from_the_update_is_withdrawn(siti, caregiver):
    siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": ["history", "manage"]})
    assert siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": []}).json["scopes"] == []
    for check in (care.check, care.check_locked):
        with pytest.raises(NotFound):
            check(caregiver.id, siti.id, Scope.MANAGE)


def test_a_scope_is_granted_to_one_caregiver_only(client, siti, caregiver):
    ani = make_user(RoleName.PENDAMPING)
    client.as_(ani).post("/caregiver/patients", {"patient_id": siti.id})
    siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": ["history"]})
    assert [care.allows(one.id, siti.id, Scope.HISTORY) for one in (caregiver, ani)] == [True, False]


def test_a_link_created_again_after_deletion_has_no_scopes(caregiver, siti):
    siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": ["manage"]})
    caregiver.post("/caregiver/patients", {"patient_id": siti.id})
    assert care.allows(caregiver.id, siti.id, Scope.MANAGE)
    siti.delete(f"/caregiver/patients/{caregiver.id}")
    caregiver.post("/caregiver/patients", {"patient_id": siti.id})
    assert not care.allows(caregiver.id, siti.id, Scope.MANAGE)
