"""Tests of removed caregivers. A caregiver whom the patient removed needs an invitation to link again."""

import pytest

from app.identity.models import RoleName
from tests.caregivers.invitations import invite
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user


def link(client, patient, name):
    caregiver = client.as_(make_user(RoleName.PENDAMPING, nama_ktp=name))
    assert caregiver.post("/caregiver/patients", {"patient_id": patient.id}).status_code == 201
    return caregiver


@pytest.mark.parametrize("is_admin", [False, True])
def test_a_removed_caregiver_needs_an_invitation_to_link_again(client, siti, admin, is_admin):
    caregiver = link(client, siti, "Budi")
    if is_admin:
        removed = admin.delete("/admins/caregiver-patient", {"caregiver_id": caregiver.id, "patient_id": siti.id})
    else:
        removed = siti.delete(f"/caregiver/patients/{caregiver.id}")
    assert removed.status_code == 200, removed.text
    again = caregiver.post("/caregiver/patients", {"patient_id": siti.id})
    assert_error(again, 403, "invitation_needed")
    assert caregiver.post("/caregiver/invitations", {"code": invite(siti)["code"]}).status_code == 201
    caregiver.delete(f"/caregiver/patients/{siti.id}")
    assert caregiver.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201


def test_a_caregiver_who_deleted_the_link_may_link_again(client, siti):
    caregiver = link(client, siti, "Budi")
    caregiver.delete(f"/caregiver/patients/{siti.id}")
    assert caregiver.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201


def test_an_administrator_may_link_a_removed_caregiver_again(client, siti, admin):
    caregiver = link(client, siti, "Budi")
    siti.delete(f"/caregiver/patients/{caregiver.id}")
    ends = {"caregiver_id": caregiver.id, "patient_id": siti.id}
    assert admin.post("/admins/caregiver-patient", ends).status_code == 201
