"""Sending of an alert to a simulated provider, by the clock of the database."""

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import jobs as outbox_jobs
from app.notifications.models import Delivery
from app.pengingat import jobs
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import bells, stock
from app.push.transport import HINTED_AT
from tests.helpers.factories import make_user
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
