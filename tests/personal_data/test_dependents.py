"""Export, deletion and restoration of a dependent's data by the caregiver who manages the account."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import dependents as kept
from app.core.database.session import db, unit_of_work
from app.core.errors import Conflict
from app.identity.access_log import AccessLogEntry
from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import RoleName, User
from app.notifications.models import Delivery
from app.personal_data import jobs, service
from app.personal_data.models import DataExport, Tombstone
from tests.caregivers.dependents import PATH, keep
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user, signed_in
from tests.helpers.overlap import done_twice_at_once
from tests.personal_data.exports import rows
from tests.personal_data.leaving import OBAT, let_the_grace_pass


@pytest.fixture
def ibu(budi: Client) -> int:
    """Create Budi's mother, a dependent with a medicine reminder. Return her id."""
    ibu = keep(budi)
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    return ibu


def noted(user_id: int) -> list[str]:
    """Return the actions of caregivers from the user's access log. Leave out `reminders_changed`."""
    entries = sa.select(AccessLogEntry).filter_by(user_id=user_id, actor_role="pendamping")
    actions = [entry.action for entry in db.session.scalars(entries.order_by(AccessLogEntry.id))]
    return [action for action in actions if action != "reminders_changed"]


def exists(user_id: int) -> bool:
    db.session.expire_all()
    return db.session.get(User, user_id) is not None


class TestDeleting:
    def test_a_deleted_dependent_is_hidden_immediately_and_erased_later(self, budi: Client, ibu: int) -> None:
        response = budi.delete(f"{PATH}/{ibu}")
        assert response.status_code == 202
        assert response.json.keys() == {"message", "due_at"}
        for path in (PATH, "/caregiver/patients"):
            listed = budi.get(path)
            assert (listed.json, listed.headers["X-Total-Count"]) == ([], "0")
        let_the_grace_pass(ibu)
        jobs.erase(ibu)
        assert not exists(ibu)
        assert db.session.scalar(sa.select(sa.func.count()).select_from(Tombstone)) == 1

    def test_a_deleted_dependent_is_in_no_list_of_administrators(self, admin: Client, budi: Client, ibu: int) -> None:
        lists = ("/admins/users", "/admins/users?q=Ibu Siti", "/admins/caregiver-patient/all")
        before = [int(admin.get(path).headers["X-Total-Count"]) for path in lists]
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        for path, total in zip(lists, before, strict=True):
            response = admin.get(path)
            assert int(response.headers["X-Total-Count"]) == total - 1
            assert "Ibu Siti" not in response.text
        assert admin.get("/admins/users?per_page=1").headers["X-Total-Count"] == str(before[0] - 1)

    def test_deleting_a_dependent_cancels_her_deliveries(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        states = db.session.scalars(sa.select(Delivery.state).filter_by(user_id=ibu).distinct()).all()
        assert states == ["cancelled"]
        for path in (f"/pengingat?patient_id={ibu}", f"/profile/ekspor/1?patient_id={ibu}"):
            assert_error(budi.get(path), 404)
        assert_error(budi.delete(f"/caregiver/patients/{ibu}"), 404)

    def test_deleting_a_deleted_dependent_is_404(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        assert_error(budi.delete(f"{PATH}/{ibu}"), 404, "not_found")

    def test_erasing_a_caregiver_erases_their_deleted_dependents(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        assert budi.delete("/profile", {"password": PASSWORD, "forum": "anonymise"}).status_code == 202
        let_the_grace_pass(budi.id)
        jobs.erase(budi.id)
        assert not exists(ibu)
        assert not exists(budi.id)

    def test_erasing_a_caregiver_erases_a_dependent_restored_from_a_backup(self, budi: Client, ibu: int) -> None:
        """The restored backup is older than the handover, so the caregiver manages the account again."""
        let_the_grace_pass(budi.id)
        jobs.erase(budi.id)
        assert not exists(ibu)
        assert not exists(budi.id)


class TestRestoring:
    def test_restoring_a_dependent_brings_back_account_and_reminders(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        response = budi.post(f"{PATH}/{ibu}/undelete")
        assert response.status_code == 200
        assert response.json == budi.get(PATH).json[0]
        assert len(budi.get(f"/pengingat?patient_id={ibu}").json) == 1
        assert noted(ibu) == ["account_deleted", "account_restored", "reminders_read"]

    def test_restoring_a_dependent_that_is_not_deleted_changes_nothing(self, budi: Client, ibu: int) -> None:
        assert budi.post(f"{PATH}/{ibu}/undelete").status_code == 200
        assert noted(ibu) == []

    def test_a_dependent_cannot_be_restored_after_the_grace_period(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        let_the_grace_pass(ibu)
        assert_error(budi.post(f"{PATH}/{ibu}/undelete"), 404, "not_found")

    def test_a_dependent_above_the_limit_cannot_be_restored(self, budi: Client, ibu: int) -> None:
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        for _ in range(MAX_DEPENDENTS):
            keep(budi)
        assert_error(budi.post(f"{PATH}/{ibu}/undelete"), 409, "too_many_dependents")
        assert len(budi.get(PATH).json) == MAX_DEPENDENTS

    def test_two_concurrent_restores_cannot_exceed_the_limit(self, committed: Flask) -> None:
        with unit_of_work():
            budi_id = make_user(RoleName.PENDAMPING).id
        caller = signed_in(budi_id)
        with unit_of_work():
            deleted = [kept.create(caller, {"nama_ktp": "Ibu"}).id for _ in range(2)]
            for id_ in deleted:
                service.delete_dependent(caller, id_)
            for _ in range(MAX_DEPENDENTS - 1):
                kept.create(caller, {"nama_ktp": "Ibu"})
        ids = iter(deleted)
        second = done_twice_at_once(committed, lambda: service.undelete_dependent(caller, next(ids)))
        assert isinstance(second.exception(), Conflict)


class TestCopying:
    def test_a_caregiver_exports_the_data_of_a_dependent(self, budi: Client, ibu: int) -> None:
        response = budi.post(f"/profile/ekspor?patient_id={ibu}", {"password": PASSWORD})
        assert response.status_code == 202
        export = response.json["id"]
        assert budi.get(f"/profile/ekspor/{export}?patient_id={ibu}").status_code == 202
        jobs.make_export(export)
        file = _opened(budi, f"/profile/ekspor/{export}?patient_id={ibu}")
        assert [row["id"] for row in rows(file, "users")] == [ibu]
        assert len(rows(file, "reminders")) == 1
        assert noted(ibu) == ["data_copied"] * 3

    def test_exports_of_caregiver_and_dependent_are_separate(self, budi: Client, ibu: int) -> None:
        hers = budi.post(f"/profile/ekspor?patient_id={ibu}", {"password": PASSWORD}).json["id"]
        own = budi.post(f"/profile/ekspor?patient_id={budi.id}", {"password": PASSWORD}).json["id"]
        assert db.session.get_one(DataExport, own).user_id == budi.id
        assert_error(budi.get(f"/profile/ekspor/{hers}"), 404)
        assert_error(budi.get(f"/profile/ekspor/{own}?patient_id={ibu}"), 404)

    def test_a_wrong_password_of_the_caregiver_is_refused(self, budi: Client, ibu: int) -> None:
        refused = budi.post(f"/profile/ekspor?patient_id={ibu}", {"password": "salah-sekali"})
        assert_error(refused, 400, "wrong_current_password")
        assert noted(ibu) == []

    def test_the_daily_export_limit_of_a_dependent_is_separate_from_the_caregivers(
        self, budi: Client, ibu: int
    ) -> None:
        path = f"/profile/ekspor?patient_id={ibu}"
        assert budi.post(path, {"password": PASSWORD}).status_code == 202
        assert_error(budi.post(path, {"password": PASSWORD}), 429)
        assert budi.post("/profile/ekspor", {"password": PASSWORD}).status_code == 202


def _opened(client: Client, path: str) -> Any:
    import io
    from zipfile import ZipFile

    return ZipFile(io.BytesIO(client.get(path).data))
