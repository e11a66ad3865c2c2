"""Export and deletion of a dependent's data by the caregiver who manages the account."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.media import storage
from app.core.media.storage import Area
from app.identity.models import User
from app.notifications.models import Delivery
from app.personal_data import jobs
from tests.caregivers.dependents import PATH, delete, keep
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD
from tests.personal_data.exports import exported, rows
from tests.personal_data.leaving import OBAT, let_the_grace_pass


@pytest.fixture
def ibu(budi):
    """Create Budi's mother, a dependent with a medicine reminder. Return her id."""
    ibu = keep(budi)
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    return ibu


def exists(user_id):
    db.session.expire_all()
    return db.session.get(User, user_id) is not None


def test_a_deleted_dependent_is_gone_at_once_and_her_rows_within_minutes(budi, ibu):
    before = len(list(storage.area(Area.TOMBSTONES).names()))
    delete(budi, ibu)
    for path in (PATH, "/caregiver/patients"):
        listed = budi.get(path)
        assert (listed.json, listed.headers["X-Total-Count"]) == ([], "0")
    assert_error(budi.get(f"/pengingat?patient_id={ibu}"), 404)
    assert_error(budi.delete(f"/caregiver/patients/{ibu}"), 404)
    assert_error(budi.delete(f"{PATH}/{ibu}", {"password": PASSWORD}), 404, "not_found")
    states = db.session.scalars(sa.select(Delivery.state).filter_by(user_id=ibu).distinct()).all()
    assert states == ["cancelled"]
    jobs.erase_due()
    jobs.erase(ibu)
    assert not exists(ibu)
    assert len(list(storage.area(Area.TOMBSTONES).names())) == before + 1


def test_the_deletion_needs_the_caregivers_password(budi, ibu):
    assert_error(budi.delete(f"{PATH}/{ibu}", {"password": "salah-sekali"}), 400, "wrong_current_password")
    assert [row["id"] for row in budi.get(PATH).json] == [ibu]


def test_a_caregiver_is_erased_after_the_deleted_dependents(budi, ibu):
    delete(budi, ibu)
    assert budi.delete("/profile", {"password": PASSWORD, "forum": "anonymise"}).status_code == 202
    let_the_grace_pass(budi.id)
    jobs.erase(budi.id)
    assert exists(budi.id)
    for user_id in (ibu, budi.id):
        jobs.erase(user_id)
        assert not exists(user_id)


def test_the_caregivers_own_copy_contains_the_rows_of_the_dependents(client, budi, ibu):
    deleted = keep(budi, "Pak Amir")
    delete(budi, deleted)
    with exported(budi) as file:
        assert [row["id"] for row in rows(file, "users")] == [budi.id, ibu]
        assert [(row["user_id"], row["details"]) for row in rows(file, "reminders")] == [(ibu, OBAT["details"])]
        assert {row["user_id"] for row in rows(file, "occurrences")} == {ibu}
        assert "semua data tentang Budi Hartono, Ibu Siti yang" in file.read("README.txt").decode()
