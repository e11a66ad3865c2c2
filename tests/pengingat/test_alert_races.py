"""Alerts while schedulers, answers and withdrawn permissions run at the same time. No alert is sent twice."""

from collections import Counter
from threading import Event
from time import sleep

import pytest
import sqlalchemy as sa

from app.core.database.session import db, get_locked_or_404, unit_of_work
from app.identity.models import User
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import caregiver_of

pytestmark = pytest.mark.processes

PATIENTS = 6


@pytest.fixture
def pairs(committed, moment, obat):
    """Create patients with a dose that was due an hour ago, each with a caregiver who may receive alerts."""
    pairs = []
    for _ in range(PATIENTS):
        with unit_of_work():
            patient_id = make_user().id
            service.create(patient_id, {"tipe": "obat", "timezone": "Asia/Jakarta", **obat})
        pairs.append((patient_id, caregiver_of(patient_id)))
    moment.move(hours=12)
    return pairs


def clock():
    for _ in range(3):
        jobs.miss_overdue()


def told():
    """Return the number of queued alerts that say something, by caregiver and patient."""
    rows = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging", state="pending"))
    return Counter((row.user_id, row.payload["patient_id"]) for row in rows.all() if words_of(row))


def test_caregivers_whose_usernames_change_meanwhile_get_their_alerts(committed, pairs):
    is_locked = Event()

    def rename_all():
        with unit_of_work():
            for _, caregiver_id in pairs:
                get_locked_or_404(User, caregiver_id).username = f"baru{caregiver_id}"
            db.session.flush()
            is_locked.set()
            sleep(0.5)  # the schedulers run into the locks

    def clock_after_the_locks():
        assert is_locked.wait(PATIENCE_S)
        clock()

    run_together(committed, rename_all, clock_after_the_locks)
    assert told() == {(caregiver_id, patient_id): 1 for patient_id, caregiver_id in pairs}
