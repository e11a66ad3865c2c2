"""Tests of accounts that caregivers manage for people without a phone."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.care import CaregiverLink, Scope
from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import RoleName, User
from tests.caregivers.dependents import PATH, delete, keep
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user
from tests.helpers.role_ids import role_ids


class TestCreating:
    def test_a_caregiver_creates_an_account_for_a_dependent(self, budi):
        ibu = {"nama_ktp": "Ibu Siti", "domicile": "jawa barat", "preferences": {"medical": True}}
        body = budi.post(PATH, ibu).ok(201)
        assert body.keys() == {"id", "nama_ktp", "created_at"}
        user = db.session.get_one(User, body["id"])
        assert (user.nama_ktp, user.domicile, user.preferences) == ("Ibu Siti", "Jawa Barat", {"medical": True})
        assert (user.role_names, user.phone, user.password_hash) == ({"pasien"}, None, None)
        link = db.session.scalars(sa.select(CaregiverLink).filter_by(patient_id=user.id)).one()
        assert (link.caregiver_id, link.scopes) == (budi.id, list(Scope))

    def test_an_unknown_domicile_makes_no_account(self, budi):
        refused = budi.post(PATH, {"nama_ktp": "Ibu Siti", "domicile": "Atlantis"})
        assert_error(refused, 400, "validation_error", "domicile")
        assert budi.get(PATH).json == []

    def test_phone_password_and_role_in_the_body_are_ignored(self, budi):
        ibu = keep(budi, nomor_hp="081355550002", password=PASSWORD, username="ibu", role="admin", id=1)
        user = db.session.get_one(User, ibu)
        assert (user.phone, user.password_hash, user.role_names) == (None, None, {"pasien"})

    def test_a_dependent_has_no_login(self, client, ibu):
        username = db.session.get_one(User, ibu).username
        for password in (" ", PASSWORD, "None"):
            response = client.post("/login", {"username": username, "password": password})
            assert_error(response, 401)

    def test_an_account_of_somebody_else_is_not_found(self, client, caregiver, siti, ibu):
        """The route also answers 404 for a linked patient who can log in, and for the caller's own id."""
        another = client.as_(make_user(RoleName.PENDAMPING))
        for caller, user_id in ((another, ibu), (caregiver, siti.id), (caregiver, caregiver.id)):
            assert_error(caller.delete(f"{PATH}/{user_id}", {"password": PASSWORD}), 404, "not_found")
        assert db.session.get_one(User, ibu).erasure_due_at is None


class TestListing:
    def test_a_caregiver_lists_own_dependents_oldest_first(self, client, budi):
        keep(client.as_(make_user(RoleName.PENDAMPING)), "Pak Orang")
        names = ["Ibu Siti", "Pak Amir"]
        ids = [keep(budi, name) for name in names]
        response = budi.get(PATH)
        assert [(row["id"], row["nama_ktp"]) for row in response.json] == list(zip(ids, names, strict=True))
        assert response.headers["X-Total-Count"] == "2"

    def test_dependents_are_not_in_the_list_of_patients(self, siti, budi, ibu):
        for caller in (siti, budi):
            assert ibu not in [row["id"] for row in caller.get("/patients").json]
            assert caller.get("/patients?q=Ibu Siti").json == []

    def test_a_link_to_a_dependent_cannot_be_created(self, client, budi, ibu):
        for caregiver in (budi, client.as_(make_user(RoleName.PENDAMPING))):
            assert_error(caregiver.post("/caregiver/patients", {"patient_id": ibu}), 404, "not_found")
        assert db.session.scalar(sa.select(sa.func.count()).select_from(CaregiverLink)) == 1


class TestLimit:
    def test_a_dependent_above_the_limit_is_refused(self, client, budi):
        for _ in range(MAX_DEPENDENTS):
            keep(budi)
        assert_error(budi.post(PATH, {"nama_ktp": "Ibu"}), 409, "too_many_dependents")
        assert len(budi.get(PATH).json) == MAX_DEPENDENTS
        keep(client.as_(make_user(RoleName.PENDAMPING)))


class TestHavingDependents:
    """A caregiver who has dependents can neither erase their own account nor lose the role."""

    def test_a_caregiver_with_dependents_cannot_erase_their_account(self, budi, ibu):
        body = {"password": PASSWORD, "forum": "anonymise"}
        assert_error(budi.delete("/profile", body), 409, "has_dependents")
        assert budi.get(PATH).status_code == 200
        delete(budi, ibu)
        assert budi.delete("/profile", body).status_code == 202

    def test_a_caregiver_with_dependents_cannot_remove_their_own_role(self, budi, ibu):
        assert_error(budi.put("/profile", {"role_ids": role_ids("pasien")}), 409, "has_dependents")
        assert budi.put("/profile", {"role_ids": role_ids("pasien", "pendamping")}).status_code == 200
        delete(budi, ibu)
        assert budi.put("/profile", {"role_ids": role_ids("pasien")}).status_code == 200

    def test_an_administrator_cannot_remove_the_role_of_a_caregiver_with_dependents(self, admin, budi, ibu):
        removed = admin.delete(f"/admins/{budi.id}/roles", {"role_ids": role_ids("pendamping")})
        assert_error(removed, 409, "has_dependents")
        changed = admin.put(f"/admins/users/{budi.id}", {"role_ids": role_ids("pasien")})
        assert_error(changed, 409, "has_dependents")
        assert budi.user.role_names == {"pendamping"}

    def test_the_link_to_a_dependent_cannot_be_deleted(self, admin, budi, ibu):
        assert_error(budi.delete(f"/caregiver/patients/{ibu}"), 409, "has_dependents")
        ends = {"caregiver_id": budi.id, "patient_id": ibu}
        assert_error(admin.delete("/admins/caregiver-patient", ends), 409, "has_dependents")
        assert budi.get(f"/pengingat?patient_id={ibu}").status_code == 200

    def test_an_administrator_who_loses_the_role_keeps_the_dependents(self, client, superadmin):
        make_admin()
        rini = make_user(RoleName.ADMIN, RoleName.PENDAMPING)
        ibu = keep(client.as_(rini))
        assert (
            superadmin.delete(f"/admins/{rini.id}").json["message"] == "Peran administrator dicabut. Akunnya tetap ada."
        )
        assert db.session.get_one(User, ibu).guardian_id == rini.id
