"""Sending of an alert to a simulated provider, by the clock of the database, and while accounts change."""

from collections import Counter
from threading import Event
from time import sleep

import pytest
import sqlalchemy as sa

from app.core.database.session import db, get_locked_or_404, unit_of_work
from app.identity.models import User
from app.notifications import jobs as outbox_jobs
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import bells, stock
from app.push.transport import HINTED_AT
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import caregiver_of
from tests.pengingat.medicines import medicine


def test_an_alert_reaches_the_caregivers_phone(committed, gateway):
    with unit_of_work():
        patient_id = make_user(nama_ktp="Siti").id
    caregiver_id = caregiver_of(patient_id, "alerts", "history")
    medicine(patient_id, "Metformin", due_in_s=-65 * 60, penting=True)  # `penting` allows alerts at night
    with unit_of_work():
        db.session.execute(sa.update(Delivery).values(state="sent"))
    jobs.miss_overdue()
    outbox_jobs.drain("urgent")
    [message] = gateway.messaging.sent
    assert "Siti belum menandai obat Metformin" in message.text
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging")).one()
    assert (row.state, row.user_id) == ("sent", caregiver_id)


def test_hinted_at_is_the_set_of_reminder_stock_and_alert_kinds():
    # The module that defines `HINTED_AT` must not import the modules of reminders. So it repeats the kinds as strings.
    assert {bells.KIND, stock.KIND, alerts.KIND} == HINTED_AT


# --- schedulers and changed accounts at the same time -----------------------------------------------------------------


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


@pytest.mark.processes
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
