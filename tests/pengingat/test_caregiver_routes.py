"""Routes for caregivers who read a patient's history."""

from __future__ import annotations

from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.pengingat.ledgers import Time, allow, past


class TestListPatientHistory:
    """GET /caregiver/patients/<patient_id>/riwayat"""

    def test_a_caregiver_reads_the_same_history_as_the_patient(
        self, siti: Client, caregiver: Client, moment: Time
    ) -> None:
        allow(siti.id, caregiver.id, "history")
        past(siti.id, 21, "missed")
        path = f"/caregiver/patients/{siti.id}/riwayat"
        assert len(caregiver.get(path).json) == 1
        assert caregiver.get(path).json == siti.get("/pengingat/riwayat").json
        assert len(caregiver.get(f"{path}?start=2026-02-21&end=2026-02-21").json) == 1
        assert caregiver.get(f"{path}?start=2026-02-22&end=2026-02-23").json == []
        assert_error(caregiver.get(f"{path}?start=x"), 400, "validation_error", "start")

    def test_without_the_history_scope_or_a_token_is_refused(
        self, siti: Client, caregiver: Client, client: Client
    ) -> None:
        path = f"/caregiver/patients/{siti.id}/riwayat"
        assert_error(caregiver.get(path), 404, "not_found")
        assert_error(client.as_(make_user("pendamping")).get(path), 404, "not_found")
        assert_error(client.get(path), 401, "unauthorized")


class TestGetPatientAdherence:
    """GET /caregiver/patients/<patient_id>/kepatuhan"""

    def test_a_caregiver_reads_the_same_adherence_as_the_patient(
        self, siti: Client, caregiver: Client, moment: Time
    ) -> None:
        allow(siti.id, caregiver.id, "history")
        past(siti.id, 21, "missed")
        path = f"/caregiver/patients/{siti.id}/kepatuhan"
        assert caregiver.get(path).json["due"] == 1
        assert caregiver.get(path).json == siti.get("/pengingat/kepatuhan").json
        assert_error(caregiver.get(f"{path}?end=x"), 400, "validation_error", "end")

    def test_without_the_history_scope_or_a_token_is_refused(
        self, siti: Client, caregiver: Client, client: Client
    ) -> None:
        path = f"/caregiver/patients/{siti.id}/kepatuhan"
        assert_error(caregiver.get(path), 404, "not_found")
        assert_error(client.as_(make_user("pendamping")).get(path), 404, "not_found")
        assert_error(client.get(path), 401, "unauthorized")
