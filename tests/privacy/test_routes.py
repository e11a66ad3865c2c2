"""Tests of the caller's own routes: responses, refusals and invalid input."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity import access_log, consents
from app.identity.access_log import AccessAction
from app.identity.models import LoginSession
from tests.helpers.client import assert_error
from tests.helpers.factories import as_caller, make_admin, make_user
from tests.privacy.answers import ANDROID, DEFAULTS, PURPOSES, granted, lines, listed, log_in, said
from tests.privacy.outbox import NOW, OBAT, add


class TestGetNotificationSettings:
    """GET /profile/notifikasi"""

    def test_without_saved_settings_the_defaults_are_returned(self, siti):
        assert siti.get("/profile/notifikasi").json == DEFAULTS

    def test_each_person_has_their_own_settings(self, client, siti):
        siti.put("/profile/notifikasi", {"messages": False})
        assert client.as_(make_user()).get("/profile/notifikasi").json == DEFAULTS


class TestUpdateNotificationSettings:
    """PUT /profile/notifikasi"""

    @pytest.mark.parametrize(
        "changes",
        [
            {"messages": False},
            {"push": False, "quiet_hours": {"start": "22:00", "end": "05:00"}},
            {"messages": False, "push": False},
            {"broadcasts": False},
            {"quiet_hours": {"start": "12:00", "end": "12:01"}, "broadcasts": True},
        ],
    )
    def test_only_the_settings_in_the_body_are_changed(self, siti, changes):
        siti.put("/profile/notifikasi", {"quiet_hours": {"start": "21:00", "end": "04:30"}})
        expected = {**DEFAULTS, "quiet_hours": {"start": "21:00", "end": "04:30"}, **changes}
        response = siti.put("/profile/notifikasi", changes)
        assert (response.status_code, response.json) == (200, expected)
        assert siti.get("/profile/notifikasi").json == expected

    def test_put_accepts_the_response_of_get(self, siti):
        for body in (DEFAULTS, {**DEFAULTS, "quiet_hours": {"start": "22:00", "end": "05:00"}, "broadcasts": False}):
            assert siti.put("/profile/notifikasi", body).json == body
            assert siti.put("/profile/notifikasi", siti.get("/profile/notifikasi").json).json == body

    def test_the_last_channel_cannot_be_switched_off_with_active_reminders(self, siti):
        reminder = siti.post("/pengingat/obat", OBAT).json["id"]
        assert siti.put("/profile/notifikasi", {"messages": False}).status_code == 200
        assert_error(siti.put("/profile/notifikasi", {"push": False}), 400, "channel_needed")
        assert_error(
            siti.put("/profile/notifikasi", {"messages": False, "push": False, "broadcasts": False}),
            400,
            "channel_needed",
        )
        assert siti.get("/profile/notifikasi").json == {**DEFAULTS, "messages": False}
        siti.delete(f"/pengingat/{reminder}")
        assert siti.put("/profile/notifikasi", {"push": False}).status_code == 200

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"messages": "mungkin"}, "messages"),
            ({"push": None}, "push"),
            ({"broadcasts": 5}, "broadcasts"),
            ({"quiet_hours": "22:00"}, "quiet_hours"),
            ({"quiet_hours": {}}, "quiet_hours"),
            ({"quiet_hours": {"start": "22:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": "24:00", "end": "05:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": "22.00", "end": "05:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": "22:00:00", "end": "05:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": "2:00", "end": "05:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": 22, "end": "05:00"}}, "quiet_hours"),
            ({"quiet_hours": {"start": "05:00", "end": "05:00"}}, "quiet_hours"),
        ],
    )
    def test_bad_input_changes_nothing(self, siti, body, field):
        assert_error(siti.put("/profile/notifikasi", body), 400, "validation_error", field)
        assert siti.get("/profile/notifikasi").json == DEFAULTS


class TestListDeliveries:
    """GET /pengiriman"""

    def test_a_future_reminder_is_one_waiting_row_with_its_title(self, siti):
        siti.post("/pengingat/obat", OBAT)
        rows = siti.get("/pengiriman").json
        assert rows == sorted(rows, key=lambda row: (row["due_at"], row["id"]), reverse=True)
        for row in rows:
            assert row["title"] == "Pengingat: Obat diabetes"
            assert row["channels"] == [
                {"channel": channel, "status": "waiting", "at": None, "reason": None} for channel in ("message", "push")
            ]

    def test_rows_are_paged_and_the_latest_due_is_first(self, siti):
        for minute in (3, 1, 2):
            add(siti.user, due_at=NOW + timedelta(minutes=minute))
        response = siti.get("/pengiriman?page=1&per_page=2")
        assert [row["due_at"][14:16] for row in response.json] == ["03", "02"]
        assert response.headers["X-Total-Count"] == "3"
        assert [row["due_at"][14:16] for row in siti.get("/pengiriman?page=2&per_page=2").json] == ["01"]
        assert_error(siti.get("/pengiriman?per_page=0"), 400, "validation_error", "per_page")

    def test_deliveries_of_other_people_are_not_listed(self, client, siti):
        add(make_user())
        add(siti.user)
        assert len(siti.get("/pengiriman").json) == 1
        assert_error(client.get("/pengiriman"), 401, "unauthorized")


class TestListSessions:
    """GET /profile/sesi"""

    def test_a_session_is_listed_with_the_name_of_its_device(self, client):
        make_user(username="siti")
        phone, _ = log_in(client, **{"User-Agent": ANDROID})
        [row] = listed(phone)
        assert set(row) == {"id", "name", "created_at", "last_used_at", "current", "notifications"}
        assert (row["name"], row["current"]) == ("Chrome di Android", True)

    def test_the_latest_login_is_first_and_the_callers_session_is_marked(self, client, siti):
        db.session.execute(sa.update(LoginSession).values(created_at=now() - timedelta(hours=1)))
        phone, _ = log_in(client, **{"User-Agent": ANDROID})
        assert [(row["name"], row["current"]) for row in listed(phone)] == [
            ("Chrome di Android", True),
            ("Perangkat tak bernama", False),
        ]
        assert [row["current"] for row in listed(siti)] == [False, True]

    def test_devices_are_paged(self, client, siti):
        for _ in range(2):
            log_in(client)
        response = siti.get("/profile/sesi?page=1&per_page=2")
        assert (len(response.json), response.headers["X-Total-Count"]) == (2, "3")
        assert_error(siti.get("/profile/sesi?page=0"), 400, "validation_error", "page")


class TestEndSession:
    """DELETE /profile/sesi/<session_id>"""

    def test_a_session_ended_from_another_device_is_refused_immediately(self, client, siti):
        phone, pair = log_in(client)
        session_id = next(row["id"] for row in listed(phone) if row["current"])
        assert siti.delete(f"/profile/sesi/{session_id}").status_code == 200
        assert_error(phone.get("/profile"), 401, "session_ended")
        assert_error(client.post("/refresh", {"refresh_token": pair["refresh_token"]}), 401, "invalid_refresh_token")
        assert [row["current"] for row in listed(siti)] == [True]
        assert_error(siti.delete(f"/profile/sesi/{session_id}"), 404, "not_found")

    def test_the_current_session_can_be_ended_by_its_id(self, siti):
        [row] = listed(siti)
        assert siti.delete(f"/profile/sesi/{row['id']}").status_code == 200
        assert_error(siti.get("/profile/sesi"), 401, "session_ended")

    @pytest.mark.parametrize("session_id", ["tidak-ada", "1", str(UUID(int=1)), "%00", "x" * 300])
    def test_an_unknown_session_id_is_not_found(self, siti, session_id):
        assert_error(siti.delete(f"/profile/sesi/{session_id}"), 404)
        assert len(listed(siti)) == 1

    def test_a_session_of_another_person_is_not_found_and_not_ended(self, client, siti):
        stranger = client.as_(make_user())
        [row] = listed(stranger)
        assert_error(siti.delete(f"/profile/sesi/{row['id']}"), 404, "not_found")
        assert stranger.get("/profile").status_code == 200


class TestEndOtherSessions:
    """DELETE /profile/sesi"""

    def test_all_other_sessions_of_the_person_are_ended(self, client, siti):
        others = [log_in(client)[0] for _ in range(2)]
        stranger = client.as_(make_user())
        assert siti.delete("/profile/sesi").status_code == 200
        assert [other.get("/profile").status_code for other in others] == [401, 401]
        assert (siti.get("/profile").status_code, stranger.get("/profile").status_code) == (200, 200)
        assert siti.delete("/profile/sesi").status_code == 200


class TestListAccesses:
    """GET /profile/akses"""

    def test_entries_are_paged_and_the_latest_is_first(self, client, siti):
        admin = as_caller(make_admin())
        for hours in (3, 2, 1):
            access_log.record(admin, siti.id, AccessAction.NIK_READ, f"{hours} jam")
        response = siti.get("/profile/akses?page=1&per_page=2")
        assert [row["reason"] for row in response.json] == ["1 jam", "2 jam"]
        assert response.headers["X-Total-Count"] == "3"
        assert {row["who"] for row in response.json} == {"Administrator"}
        assert_error(siti.get("/profile/akses?per_page=101"), 400, "validation_error", "per_page")

    def test_entries_of_other_people_are_not_listed(self, client, siti):
        access_log.record(as_caller(make_admin()), siti.id, AccessAction.NIK_READ)
        assert lines(client.as_(make_user())) == []
        assert_error(client.get("/profile/akses"), 401, "unauthorized")


class TestListConsents:
    """GET /profile/persetujuan"""

    def test_consents_never_recorded_are_listed_as_granted(self, siti):
        nothing = {"granted": True, "version": None, "at": None, "way": None}
        assert siti.get("/profile/persetujuan").json == [{"purpose": purpose, **nothing} for purpose in PURPOSES]

    def test_each_person_has_their_own_consents(self, client, siti):
        siti.put("/profile/persetujuan", {"broadcasts": False})
        assert granted(client.as_(make_user()))["broadcasts"] is True


class TestUpdateConsents:
    """PUT /profile/persetujuan"""

    def test_only_the_consents_in_the_body_are_recorded(self, siti):
        response = siti.put("/profile/persetujuan", {"health_data": False})
        assert response.status_code == 200
        assert response.json == siti.get("/profile/persetujuan").json
        rows = said(siti)
        assert {name: (row["granted"], row["version"], row["way"]) for name, row in rows.items()} == {
            "health_data": (False, consents.VERSION, "app"),
            "broadcasts": (True, None, None),
        }
        assert rows["health_data"]["at"] is not None

    @pytest.mark.parametrize(
        ("body", "code", "field"),
        [
            ({"health_data": None}, "validation_error", "health_data"),
            ({"health_data": "mungkin"}, "validation_error", "health_data"),
            ({"broadcasts": []}, "validation_error", "broadcasts"),
        ],
    )
    def test_bad_input_changes_nothing(self, siti, body, code, field):
        assert_error(siti.put("/profile/persetujuan", body), 400, code, field)
        assert granted(siti) == dict.fromkeys(PURPOSES, True)
