"""Tests of the administration routes, in the order of `routes.py`."""

from datetime import timedelta
from io import BytesIO

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import today
from app.identity import audit
from app.identity.models import RoleName
from app.notifications.models import Delivery
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.helpers.language import assert_readable
from tests.helpers.role_ids import role_ids
from tests.notifications.deliveries import words_of

FORM = {"email": "Rina.Wijaya@contoh.id", "password": PASSWORD, "nama_ktp": "Rina Wijaya"}
NIK = "3273014502900001"
LINKS = "/admins/caregiver-patient"


def both(budi, siti):
    return {"caregiver_id": budi.id, "patient_id": siti.id}


class TestListAdmins:
    """GET /admins"""

    def test_only_administrators_are_listed(self, admin):
        make_user(username="siti")
        assert [row["username"] for row in admin.get("/admins/").json] == ["rina"]
        assert admin.get("/admins", query_string={"q": "tidak ada"}).json == []


class TestCreateAdmin:
    """POST /admins"""

    def test_an_administrator_is_created_from_a_form_with_a_picture(self, admin):
        data = {**FORM, "nomor_hp": "081277778888", "image": (BytesIO(plain("PNG")), "rina.png")}
        body = admin.post("/admins/", data=data).ok(201)
        assert body["username"] == "rina.wijaya"
        assert body["role"] == "admin"
        assert body["image"].startswith("/media/")
        assert admin.get("/admins/audit?action=admin_created").json[0]["subject_name"] == "rina.wijaya"
        logged_in = admin.post("/login", {"username": FORM["email"], "password": PASSWORD})
        assert admin.with_token(logged_in.json["access_token"]).get("/admins/").status_code == 200

    def test_an_email_in_use_is_a_conflict(self, admin):
        make_user(email="rina.wijaya@contoh.id")
        assert_error(admin.post("/admins/", FORM), 409, "email_taken")
        assert_error(admin.put(f"/admins/{make_admin().id}", {"email": FORM["email"]}), 409, "email_taken")


class TestGetAdmin:
    """GET /admins/<username>"""

    def test_an_administrator_is_found_by_username(self, admin):
        make_user(username="siti")
        assert admin.get("/admins/RINA").json["username"] == "rina"
        for username in ("siti", "12", "%00", "ü"):
            assert_error(admin.get(f"/admins/{username}"), 404)


class TestUpdateAdmin:
    """PUT /admins/<user_id>"""

    def test_only_the_fields_in_the_body_are_changed(self, admin):
        ani = admin.post("/admins", {**FORM, "email": "ani@contoh.id", "nomor_hp": "081277778888"}).json
        body = admin.put(f"/admins/{ani['id']}", data={"nama_ktp": "Rina W.", "nomor_hp": ""}).ok()
        assert body["nama_ktp"] == "Rina W."
        assert body["nomor_hp"] is None
        assert body["email"] == "ani@contoh.id"
        row = admin.get("/admins/audit?action=user_changed").json[0]
        assert row["details"] == {"fields": ["nama_ktp", "nomor_hp"]}

    def test_a_person_who_is_no_administrator_is_not_found(self, admin, siti):
        for method, body in (("PUT", {"nama_ktp": "X"}), ("DELETE", None)):
            assert_error(admin.open(method, f"/admins/{siti.id}", body), 404)


class TestDeleteAdmin:
    """DELETE /admins/<user_id>"""

    def test_administrators_cannot_delete_their_own_account(self, admin):
        make_admin()
        assert_error(admin.delete(f"/admins/{admin.id}"), 409, "own_account")


class TestListUsers:
    """GET /admins/users"""

    def test_users_are_listed_newest_first_without_nik_and_preferences(self, admin):
        make_user(username="siti", nik=NIK, preferences={"islam": True})
        response = admin.get("/admins/users")
        assert [row["username"] for row in response.json] == ["siti", "rina"]
        assert response.headers["X-Total-Count"] == "2"
        assert response.json[0]["roles"][0]["name"] == "pasien"
        assert not {"nik", "preferences", "password_hash"} & set(response.json[0])


class TestGetUser:
    """GET /admins/users/<user_id>"""

    def test_the_detail_shows_the_nik_and_the_read_is_audited(self, admin):
        siti = make_user(username="siti", nik=NIK)
        assert admin.get(f"/admins/users/{siti.id}").json["nik"] == NIK
        (row,) = admin.get("/admins/audit?action=nik_read").json
        assert row["actor"] == "rina"
        assert row["subject"] == f"user:{siti.id}"
        assert row["ip"] == "127.0.0.1"
        assert NIK not in str(row)


class TestUpdateUser:
    """PUT /admins/users/<user_id>"""

    def test_roles_are_replaced_and_the_audit_log_says_which(self, admin):
        siti = make_user(username="siti")
        response = admin.put(f"/admins/users/{siti.id}", {"role_ids": role_ids(RoleName.ADMIN, RoleName.PENDAMPING)})
        assert {role["name"] for role in response.json["roles"]} == {"admin", "pendamping"}
        (row,) = admin.get("/admins/audit?action=roles_changed").json
        assert row["details"] == {"given": ["admin", "pendamping"], "taken": ["pasien"]}
        verified = admin.put(f"/admins/users/{siti.id}", {"is_verified": True}).json
        assert (verified["is_verified"], len(verified["role_ids"])) == (True, 2)


class TestEndUserSessions:
    """DELETE /admins/users/<user_id>/sesi"""

    def test_all_sessions_are_ended_and_the_person_is_notified(self, client, admin, siti):
        phone = client.as_(siti.user)
        response = admin.delete(f"/admins/users/{siti.id}/sesi", {"reason": "Ponselnya hilang."})
        assert (response.status_code, response.data) == (204, b"")
        for device in (siti, phone):
            assert_error(device.get("/profile"), 401, "session_ended")
        (row,) = admin.get("/admins/audit").json
        assert (row["actor"], row["action"], row["subject"]) == ("rina", "sessions_ended", f"user:{siti.id}")
        assert row["details"] == {"reason": "Ponselnya hilang."}
        (told,) = db.session.scalars(sa.select(Delivery).filter_by(user_id=siti.id))
        assert (told.kind, told.channel) == ("security_notice", "messaging")
        assert_readable(str(words_of(told)["text"]))


class TestFreePhone:
    """DELETE /admins/users/<user_id>/phone"""

    def test_the_account_loses_its_number_and_keeps_its_login(self, admin, client):
        siti = make_user(username="siti", nomor_hp="081234567890")
        body = admin.delete(f"/admins/users/{siti.id}/phone", {"reason": "Nomor ini milik orang lain."}).ok()
        assert (body["id"], body["nomor_hp"]) == (siti.id, None)
        assert client.post("/login", {"username": "siti", "password": PASSWORD}).status_code == 200
        assert client.post("/login", {"username": "081234567890", "password": PASSWORD}).status_code == 401

    def test_removing_a_missing_number_is_not_audited_again(self, admin):
        siti = make_user(username="siti")
        for _ in range(2):
            response = admin.delete(f"/admins/users/{siti.id}/phone", {"reason": "Salah nomor."})
            assert (response.status_code, response.json["nomor_hp"]) == (200, None)
        (row,) = admin.get("/admins/audit?action=number_freed").json
        assert (row["subject"], row["details"]) == (f"user:{siti.id}", {"reason": "Salah nomor."})

    def test_the_number_of_a_superadmin_cannot_be_removed(self, admin, superadmin):
        boss = make_superadmin(nomor_hp="081234567890")
        path = f"/admins/users/{boss.id}/phone"
        assert_error(admin.delete(path, {"reason": "x"}), 403, "superadmin_only")
        assert_error(superadmin.delete(path, {"reason": "x"}), 403, "forbidden")
        assert boss.phone == "+6281234567890"


class TestListRelations:
    """GET /admins/caregiver-patient/all"""

    def test_links_are_listed_with_both_people_by_one_statement(self, admin, budi, siti, statements):
        admin.post(LINKS, both(budi, siti))
        admin.post(LINKS, both(budi, make_user()))
        with statements.at_most(3):  # SQL statements: caller, caregiver links with users, access log
            rows = admin.get(f"{LINKS}/all").json
        assert len(rows) == 2
        assert rows[1]["caregiver"]["username"] == "budi"
        assert rows[1]["patient"]["username"] == "siti"
        assert [row["patient_id"] for row in admin.get(f"{LINKS}/all?q=siti").json] == [siti.id]


class TestListCaregiverPatients:
    """GET /admins/caregiver-patient"""

    def test_the_patients_of_a_caregiver_are_listed(self, admin, budi, siti):
        admin.post(LINKS, both(budi, siti))
        (row,) = admin.get(LINKS, query_string={"caregiver_id": budi.id}).json
        assert row["username"] == "siti"
        assert {"link_id", "linked_at"} <= set(row)
        for q, found in (("SIT", 1), ("Siti Aminah", 1), ("budi", 0), ("%", 0)):
            assert len(admin.get(LINKS, query_string={"caregiver_id": budi.id, "q": q}).json) == found


class TestCreateRelation:
    """POST /admins/caregiver-patient"""

    def test_a_link_is_created_once(self, admin, budi, siti):
        first, second = admin.post(LINKS, both(budi, siti)), admin.post(LINKS, both(budi, siti))
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json == second.json

    def test_roles_must_match(self, admin, budi, siti):
        assert_error(admin.post(LINKS, {"caregiver_id": siti.id, "patient_id": budi.id}), 400, "role_mismatch")
        assert_error(admin.post(LINKS, {"caregiver_id": budi.id, "patient_id": budi.id}), 400, "same_person")
        assert_error(admin.post(LINKS, {"caregiver_id": budi.id, "patient_id": 999999}), 404)


class TestDeleteRelation:
    """DELETE /admins/caregiver-patient"""

    def test_a_link_is_deleted_and_audited(self, admin, budi, siti):
        admin.post(LINKS, both(budi, siti))
        assert admin.delete(LINKS, both(budi, siti)).status_code == 200
        assert_error(admin.delete(LINKS, both(budi, siti)), 404)
        assert admin.get(f"{LINKS}/all").json == []
        (row,) = admin.get("/admins/audit").json
        assert (row["action"], row["subject"]) == ("deleted", f"caregiver_link:{budi.id}:{siti.id}")


class TestGetOverview:
    """GET /admins/overview"""

    def test_without_data_the_overview_has_30_empty_days(self, admin):
        overview = admin.get("/admins/overview").json
        assert overview["range"] == {
            "start": str(today() - timedelta(days=29)),
            "end": str(today()),
            "timezone": "Asia/Jakarta",
        }
        assert {name: count for name, count in overview["totals"].items() if count} == {"users": 1, "admins": 1}
        assert len(overview["growth"]) == len(overview["activity"]) == 30
        assert overview["growth"][-1] == {"date": str(today()), "users": 1, "cumulative": 1}
        assert overview["activity"][0] == {"date": str(today() - timedelta(days=29)), "events": 0, "active_users": 0}
        assert [row["tipe"] for row in overview["reminder_categories"]] == ["obat", "makan", "terapi", "kontrol"]

    def test_a_wrong_range_is_refused(self, admin):
        for query in ({"start": "2026-03-02", "end": "2026-03-01"}, {"start": "2000-01-01", "end": "2026-01-01"}):
            refused = admin.get("/admins/overview", query_string=query)
            assert_error(refused, 400, "validation_error", "start")


class TestExportReport:
    """GET /admins/export/<report>"""

    def test_an_unknown_report_or_range_is_refused(self, admin):
        assert_error(admin.get("/admins/export/passwords"), 404, "unknown_report")
        path = "/admins/export/users?start=2026-02-02&end=2026-02-01"
        assert_error(admin.get(path), 400, "validation_error", "start")


class TestListAuditEntries:
    """GET /admins/audit"""

    def test_the_log_is_paged_newest_first(self, admin):
        for n in range(5):
            audit.record(None, audit.AuditAction.EXPORT, f"export:{n}")
            db.session.flush()
        response = admin.get("/admins/audit?page=1&per_page=2")
        assert [row["subject"] for row in response.json] == ["export:4", "export:3"]
        assert response.headers["X-Total-Count"] == "5"
        assert response.json[0]["actor"] is None
        assert [row["subject"] for row in admin.get("/admins/audit?q=export:1").json] == ["export:1"]

    def test_entries_of_sql_statements_are_shown_only_to_superadmins(self, admin, superadmin):
        audit.record(None, audit.AuditAction.SQL, "query", query="SELECT 1")
        audit.record(None, audit.AuditAction.EXPORT, "export:users")
        db.session.flush()
        assert [row["action"] for row in admin.get("/admins/audit").json] == ["export"]
        assert admin.get("/admins/audit?action=sql").json == []
        assert [row["action"] for row in superadmin.get("/admins/audit").json] == ["export", "sql"]
