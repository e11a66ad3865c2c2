"""Tests of the routes of caregiver links and invitations, in the order of `routes.py`."""

import re
from datetime import UTC, datetime, timedelta

from app.identity import care
from app.identity.care import Scope
from app.identity.models import RoleName
from tests.caregivers.invitations import PATH, invite
from tests.helpers.client import assert_error
from tests.helpers.factories import make_admin, make_user


class TestCreateLink:
    """POST /caregiver/patients"""

    def test_a_link_is_created_and_both_people_see_it(self, budi, siti):
        created = budi.post("/caregiver/patients", {"patient_id": siti.id}).ok(201)
        (patient,) = budi.get("/caregiver/patients").json
        assert (patient["id"], patient["link_id"], patient["scopes"]) == (siti.id, created["id"], [])
        (row,) = siti.get("/patient/caregivers").json
        assert (row["username"], row["linked_at"]) == ("budi", created["created_at"])
        assert budi.get("/patient/caregivers").json == siti.get("/caregiver/patients").json == []

    def test_a_link_that_exists_is_returned(self, budi, siti):
        first = budi.post("/caregiver/patients", {"patient_id": siti.id})
        again = budi.post("/caregiver/patients", {"patient_id": siti.id})
        assert (again.status_code, again.json) == (200, first.json)
        assert len(budi.get("/caregiver/patients").json) == 1

    def test_a_person_who_is_not_a_patient_is_refused(self, client, budi):
        colleague = make_user(RoleName.PENDAMPING)
        assert_error(budi.post("/caregiver/patients", {"patient_id": colleague.id}), 400, "role_mismatch")
        assert_error(budi.post("/caregiver/patients", {"patient_id": 999999}), 404)
        both = client.as_(make_user(RoleName.PENDAMPING, RoleName.PASIEN))
        assert_error(both.post("/caregiver/patients", {"patient_id": both.id}), 400, "same_person")


class TestDeleteLink:
    """DELETE /caregiver/patients/<other_id>"""

    def test_caregiver_and_patient_can_each_delete_the_link(self, budi, siti):
        for cutter, other in ((budi, siti), (siti, budi)):
            budi.post("/caregiver/patients", {"patient_id": siti.id})
            assert cutter.delete(f"/caregiver/patients/{other.id}").status_code == 200
            assert budi.get("/caregiver/patients").json == []
            assert_error(cutter.delete(f"/caregiver/patients/{other.id}"), 404)

    def test_one_of_two_mutual_links_is_deleted(self, client):
        both = [make_user(RoleName.PASIEN, RoleName.PENDAMPING, username=name) for name in ("ani", "bayu")]
        ani, bayu = map(client.as_, both)
        ani.post("/caregiver/patients", {"patient_id": both[1].id})
        bayu.post("/caregiver/patients", {"patient_id": both[0].id})
        assert ani.delete(f"/caregiver/patients/{both[1].id}").status_code == 200
        assert (ani.get("/caregiver/patients").json, ani.get("/patient/caregivers").json[0]["username"]) == ([], "bayu")
        assert ani.delete(f"/caregiver/patients/{both[1].id}").status_code == 200  # Ani is the patient of this link
        assert bayu.get("/caregiver/patients").json == []


class TestUpdateConsent:
    """PUT /patient/caregivers/<caregiver_id>"""

    def test_the_patient_sets_the_scopes_of_a_caregiver(self, caregiver, siti):
        body = siti.put(f"/patient/caregivers/{caregiver.id}", {"scopes": ["history", "alerts", "history"]}).ok()
        assert body == siti.get("/patient/caregivers").json[0]
        assert body["scopes"] == ["alerts", "history"]
        assert caregiver.get("/caregiver/patients").json[0]["scopes"] == ["alerts", "history"]
        assert all(care.allows(caregiver.id, siti.id, scope) for scope in (Scope.ALERTS, Scope.HISTORY))
        assert not care.allows(caregiver.id, siti.id, Scope.MANAGE)

    def test_only_the_patient_can_grant_a_scope(self, client, caregiver, siti):
        for other in (caregiver, client.as_(make_user()), client.as_(make_admin())):
            for of in (caregiver, siti):
                assert_error(other.put(f"/patient/caregivers/{of.id}", {"scopes": ["manage"]}), 404)
        assert not care.allows(caregiver.id, siti.id, Scope.MANAGE)


class TestCreateInvitation:
    """POST /patient/invitations"""

    def test_gives_a_code_and_a_link_to_the_front_end(self, siti):
        invitation = invite(siti, "history", "alerts")
        assert re.fullmatch("[2-9A-HJKMNP-Z]{10}", invitation["code"])
        left = datetime.fromisoformat(invitation["expires_at"]) - datetime.now(UTC)
        assert timedelta(days=7, minutes=-1) < left <= timedelta(days=7)
        assert invitation["link"] == f"http://localhost:5173/undangan?code={invitation['code']}"
        assert invitation["scopes"] == ["alerts", "history"]


class TestListInvitations:
    """GET /patient/invitations"""

    def test_open_invitations_are_listed_without_their_codes(self, siti, budi):
        first, second = invite(siti), invite(siti, "history")
        rows = siti.get(PATH).json
        assert rows == [{name: each[name] for name in ("id", "scopes", "expires_at")} for each in (second, first)]
        assert budi.get(PATH).json == []
        budi.post("/caregiver/invitations", {"code": second["code"]})
        assert [row["id"] for row in siti.get(PATH).json] == [first["id"]]


class TestDeleteInvitation:
    """DELETE /patient/invitations/<invitation_id>"""

    def test_the_code_of_a_deleted_invitation_is_refused(self, siti, budi):
        first = invite(siti)
        assert siti.delete(f"{PATH}/{first['id']}").status_code == 204
        assert_error(siti.delete(f"{PATH}/{first['id']}"), 404)
        assert_error(budi.post("/caregiver/invitations", {"code": first["code"]}), 404)


class TestRedeemInvitation:
    """POST /caregiver/invitations"""

    def test_a_caregiver_who_redeems_a_code_is_linked_with_its_scopes(self, siti, budi):
        code = invite(siti, "alerts", "history")["code"]
        body = budi.post("/caregiver/invitations", {"code": code}).ok(201)
        assert (body["caregiver_id"], body["patient_id"]) == (budi.id, siti.id)
        assert body["scopes"] == ["alerts", "history"]
        assert siti.get("/patient/caregivers").json[0]["scopes"] == ["alerts", "history"]
        assert not care.allows(budi.id, siti.id, Scope.MANAGE)

    def test_a_code_works_once(self, client, siti, budi):
        code = invite(siti, "manage")["code"]
        assert budi.post("/caregiver/invitations", {"code": code}).status_code == 201
        for late in (client.as_(make_user(RoleName.PENDAMPING)), budi):
            assert_error(late.post("/caregiver/invitations", {"code": code}), 404, "not_found")
        assert len(siti.get("/patient/caregivers").json) == 1

    def test_an_invitation_adds_scopes_to_an_existing_link(self, siti, budi):
        budi.post("/caregiver/patients", {"patient_id": siti.id})
        siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["manage"]})
        response = budi.post("/caregiver/invitations", {"code": invite(siti, "alerts")["code"]})
        assert (response.status_code, response.json["scopes"]) == (200, ["alerts", "manage"])

    def test_redeeming_the_own_invitation_is_refused(self, client):
        both = client.as_(make_user(RoleName.PENDAMPING, RoleName.PASIEN))
        code = invite(both)["code"]
        assert_error(both.post("/caregiver/invitations", {"code": code}), 400, "same_person")
        assert len(both.get(PATH).json) == 1
