"""Alerts while schedulers, answers and withdrawn permissions run at the same time. No alert is sent twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import service as caregivers
from app.core.database.session import db, get_locked_or_404, unit_of_work
from app.identity.models import RoleName, User
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import CaregiverAlert, Occurrence
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import Time, settle

pytestmark = pytest.mark.processes

PATIENTS = 12

#: Ids of patient, caregiver and reminder.
Trio = tuple[int, int, int]


@pytest.fixture
def trios(committed: Flask, moment: Time, obat: dict[str, Any]) -> list[Trio]:
    """Create patients with a dose that was due an hour ago, each with a caregiver who may receive alerts."""
    trios = []
    for _ in range(PATIENTS):
        with unit_of_work():
            patient_id, caregiver_id = make_user().id, make_user(RoleName.PENDAMPING).id
            caregivers.create(caregiver_id, patient_id)
            caregivers.update_scopes(patient_id, caregiver_id, ["alerts"])
        with unit_of_work():
            sent: Any = {"tipe": "obat", "timezone": "Asia/Jakarta", **obat}
            trios.append((patient_id, caregiver_id, service.create(patient_id, sent).id))
    moment.move(hours=12)
    return trios


def clock() -> None:
    for _ in range(3):
        jobs.miss_overdue()
        jobs.send_caregiver_alerts()


def told() -> Counter[tuple[int | None, int | None]]:
    """Return the number of queued alerts by caregiver and patient."""
    people = sa.select(Delivery.user_id, Delivery.about_id).filter_by(kind="alert", channel="messaging")
    return Counter((caregiver, patient) for caregiver, patient in db.session.execute(people.filter_by(state="pending")))


def test_four_concurrent_schedulers_queue_one_alert_for_each_caregiver(committed: Flask, trios: list[Trio]) -> None:
    run_together(committed, *[clock] * 4)
    assert told() == {(caregiver_id, patient_id): 1 for patient_id, caregiver_id, _ in trios}
    alerts = db.session.scalars(sa.select(CaregiverAlert)).all()
    assert len(alerts) == PATIENTS
    assert all(alert.told_at is not None for alert in alerts)


@pytest.mark.parametrize("cut", ["scope", "link"])
def test_removing_alert_access_while_schedulers_run_leaves_no_queued_alert(
    committed: Flask, trios: list[Trio], cut: str
) -> None:
    def cut_all() -> None:
        for patient_id, caregiver_id, _ in reversed(trios):
            with unit_of_work():
                if cut == "scope":
                    caregivers.update_scopes(patient_id, caregiver_id, ["history"])
                else:
                    caregivers.delete(caregiver_id, patient_id)

    run_together(committed, clock, cut_all, clock)
    clock()
    assert told() == {}
    assert db.session.scalar(sa.select(sa.func.count()).where(CaregiverAlert.told_at.is_(None))) == 0


def test_a_late_answer_while_schedulers_run_causes_one_alert_about_the_answer(
    committed: Flask, trios: list[Trio]
) -> None:
    jobs.miss_overdue()

    def answer_all() -> None:
        for patient_id, _, reminder_id in trios:
            with unit_of_work():
                row = db.session.scalars(sa.select(Occurrence).filter_by(reminder_id=reminder_id, state="missed")).one()
            with unit_of_work():
                answers.confirm(patient_id, reminder_id, NewAnswer("done", due_at=row.due_at))

    run_together(committed, clock, answer_all, clock)
    clock()
    for patient_id, caregiver_id, _ in trios:
        which = {"user_id": caregiver_id, "about_id": patient_id, "channel": "messaging"}
        query = sa.select(Delivery).filter_by(**which).order_by(Delivery.id)
        rows = db.session.scalars(query).all()
        assert len(rows) in (0, 2)  # none if the answer came before the alert
        told = [row.payload["news"][0][1] == "LATE" for row in rows]  # type: ignore[index]
        assert told == [False, True][: len(rows)]
        settle("sent", Delivery.kind == "alert")
        db.session.commit()
        # An alert that is no longer true has no text.
        assert ["walau terlambat" in words_of(row).get("text", "") for row in rows] == [False, True][: len(rows)]


def test_deleting_users_while_schedulers_run_causes_no_deadlock(committed: Flask, trios: list[Trio]) -> None:
    def delete_all() -> None:
        for person_id in [id_ for patient_id, caregiver_id, _ in trios[:6] for id_ in (patient_id, caregiver_id)]:
            with unit_of_work():
                db.session.delete(get_locked_or_404(User, person_id))

    run_together(committed, clock, delete_all, clock)
    clock()
    remaining = [(patient_id, caregiver_id) for patient_id, caregiver_id, _ in trios[6:]]
    assert told() == {(caregiver_id, patient_id): 1 for patient_id, caregiver_id in remaining}
