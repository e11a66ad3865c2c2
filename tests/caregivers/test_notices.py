"""Tests of the notices that inform patients about new caregivers."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.care import Scope
from app.identity.models import RoleName
from app.notifications.models import Delivery
from tests.caregivers.invitations import invite
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of


def told(patient):
    rows = sa.select(Delivery).filter_by(user_id=patient.id, kind="security_notice")
    return {row.channel: words_of(row) for row in db.session.scalars(rows.order_by(Delivery.id))}


def notices(patient):
    rows = sa.select(Delivery.id).filter_by(user_id=patient.id, kind="security_notice", channel="messaging")
    return len(db.session.scalars(rows).all())


@pytest.mark.parametrize("way", ["the specified link", "an invitation", "an administrator"])
def test_the_patient_is_notified_of_every_new_link(siti, budi, admin, way):
    if way == "the specified link":
        budi.post("/caregiver/patients", {"patient_id": siti.id})
    elif way == "an invitation":
        budi.post("/caregiver/invitations", {"code": invite(siti)["code"]})
    else:
        admin.post("/admins/caregiver-patient", {"caregiver_id": budi.id, "patient_id": siti.id})
    texts = told(siti)
    assert texts["messaging"]["text"] == (
        "Budi Hartono sekarang menjadi pendamping Anda. Ia hanya melihat nama Anda. "
        "Tidak setuju? Hapus pendamping ini di aplikasi."
    )
    assert texts["push_fan_out"]["title"] == "Pendamping baru"
    assert "Budi Hartono" in texts["push_fan_out"]["body"]
    for text in (texts["messaging"]["text"], texts["push_fan_out"]["body"]):
        assert_readable(text)
    assert told(budi) == {}


def test_the_notice_lists_the_scopes_and_how_to_remove_the_caregiver(siti, budi):
    budi.post("/caregiver/invitations", {"code": invite(siti, *Scope)["code"]})
    assert told(siti)["messaging"]["text"] == (
        "Budi Hartono sekarang menjadi pendamping Anda. "
        "Ia bisa mendapat kabar kalau obat belum ditandai, melihat riwayat dan kepatuhan, mengatur pengingat. "
        "Tidak setuju? Hapus pendamping ini di aplikasi."
    )
    assert_readable(told(siti)["messaging"]["text"])


def test_an_existing_link_and_an_existing_scope_send_no_second_notice(budi, siti):
    for _ in range(3):
        budi.post("/caregiver/patients", {"patient_id": siti.id})
    assert notices(siti) == 1
    for _ in range(2):
        budi.post("/caregiver/invitations", {"code": invite(siti, "alerts")["code"]})
        siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["alerts"]})
    assert notices(siti) == 2


def test_a_scope_granted_again_after_removal_is_notified_again(siti, budi):
    for times in (1, 2):
        budi.post("/caregiver/invitations", {"code": invite(siti, "alerts")["code"]})
        assert notices(siti) == times
        siti.put(f"/patient/caregivers/{budi.id}", {"scopes": []})
    assert notices(siti) == 2


def test_repeated_deletion_and_creation_of_a_link_is_rate_limited(budi, siti, limited):
    for n in range(6):
        code = invite(siti)["code"]
        assert budi.post("/caregiver/invitations", {"code": code}).status_code == (201 if n < 5 else 429)
        budi.delete(f"/caregiver/patients/{siti.id}")
    assert notices(siti) == 5


def test_a_fourth_uninvited_caregiver_of_a_day_is_refused(client, siti, admin, limited):
    """Invitations and administrators are not limited, and each link sends its own notice."""
    caregivers = [client.as_(make_user(RoleName.PENDAMPING)) for _ in range(6)]
    for n, caregiver in enumerate(caregivers[:4]):
        response = caregiver.post("/caregiver/patients", {"patient_id": siti.id})
        assert response.status_code == (201 if n < 3 else 429)
    assert_error(response, 429, "too_many_requests")
    assert caregivers[4].post("/caregiver/invitations", {"code": invite(siti)["code"]}).status_code == 201
    linked = admin.post("/admins/caregiver-patient", {"caregiver_id": caregivers[5].id, "patient_id": siti.id})
    assert linked.status_code == 201
    assert notices(siti) == 5
    other = make_user()
    assert caregivers[3].post("/caregiver/patients", {"patient_id": other.id}).status_code == 201


def test_the_patient_is_told_of_scopes_that_were_added_in_their_name(siti, caregiver):
    """A thief with a stolen session could otherwise add scopes in silence."""
    before = notices(siti)
    for scopes, more in ((["history"], 1), (["history", "manage"], 2), (["manage"], 2), ([], 2)):
        assert siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": scopes}).status_code == 200
        assert notices(siti) == before + more


def test_a_notice_about_a_deleted_link_is_not_sent(siti, budi):
    budi.post("/caregiver/patients", {"patient_id": siti.id})
    siti.delete(f"/caregiver/patients/{budi.id}")
    assert told(siti) == {"messaging": {}, "push_fan_out": {}}


def test_a_link_in_the_name_of_a_caregiver_is_broken_by_a_blank(client, siti):
    caregiver = make_user(RoleName.PENDAMPING, nama_ktp="klaim.help")
    client.as_(caregiver).post("/caregiver/patients", {"patient_id": siti.id})
    assert told(siti)["messaging"]["text"].startswith("klaim. help sekarang menjadi")
