"""Tests of the routes about a dependent, a person without a phone.

The caregiver of the dependent uses the routes.
"""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.access_log import AccessLogEntry
from app.identity.care import CaregiverLink
from app.identity.models import RoleName
from tests.caregivers.dependents import hand_over, keep, take_over
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user
from tests.personal_data.leaving import OBAT

#: Routes that accept a dependent's id, each with a valid body.
ROUTES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/profile/ekspor", {"password": PASSWORD}),
    ("GET", "/profile/ekspor/1", None),
)


@pytest.fixture
def ibu(budi: Client) -> int:
    """Create Budi's mother, a dependent. Return her id."""
    return keep(budi)


def noted(user_id: int) -> list[str]:
    rows = sa.select(AccessLogEntry.action).filter_by(user_id=user_id).order_by(AccessLogEntry.id)
    return list(db.session.scalars(rows))


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
@pytest.mark.parametrize("whose", ["another's", "linked", "unknown", "handed over", "deleted"])
def test_a_person_who_is_not_an_own_dependent_is_not_found(
    client: Client, siti: Client, caregiver: Client, ibu: int, method: str, path: str, body: Any, whose: str
) -> None:
    """The routes also answer 404 for a linked patient who gave the caregiver all scopes."""
    db.session.execute(sa.update(CaregiverLink).values(scopes=["alerts", "history", "manage"]))
    caller = client.as_(make_user(RoleName.PENDAMPING)) if whose == "another's" else caregiver
    if whose == "handed over":
        take_over(client, hand_over(caregiver, ibu))
    if whose == "deleted":
        assert caregiver.delete(f"/caregiver/dependents/{ibu}").status_code == 202
    before = noted(ibu)
    id_ = {"linked": siti.id, "unknown": 999_999_999}.get(whose, ibu)
    assert_error(caller.open(method, f"{path}?patient_id={id_}", body), 404, "not_found")
    assert (noted(ibu), noted(siti.id)) == (before, [])


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
@pytest.mark.parametrize("bad", ["x", "0", "-1", "1.5"])
def test_a_bad_id_is_bad_input(budi: Client, method: str, path: str, body: Any, bad: str) -> None:
    assert_error(budi.open(method, f"{path}?patient_id={bad}", body), 400, "validation_error", "patient_id")


@pytest.mark.parametrize(("method", "path", "body"), ROUTES[:1])
def test_the_callers_own_id_is_accepted_and_not_logged(budi: Client, method: str, path: str, body: Any) -> None:
    assert budi.open(method, f"{path}?patient_id={budi.id}", body).status_code in (200, 202)
    assert noted(budi.id) == []


def test_a_caregiver_who_receives_reminders_keeps_one_channel(budi: Client, ibu: int) -> None:
    off = {"messages": False, "push": False}
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    assert_error(budi.put("/profile/notifikasi", off), 400, "channel_needed")
    assert budi.delete(f"/caregiver/dependents/{ibu}").status_code == 202
    assert budi.put("/profile/notifikasi", off).status_code == 200
