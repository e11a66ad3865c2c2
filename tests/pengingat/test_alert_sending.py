"""Sending of alerts to a simulated provider.

Before sending, the service checks the patient's permission and the state of the reminder again.
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.identity.care import CaregiverLink
from app.identity.models import RoleName
from app.notifications import jobs as outbox_jobs
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs, service
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import bells, stock
from app.push.transport import HINTED_AT
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of

pytestmark = pytest.mark.usefixtures("gateway")

NAMELESS = "Siti belum menandai obat"
NAMED = "Siti belum menandai obat Metformin"


@pytest.fixture
def caregiver_id(committed, moment, obat, monkeypatch):
    """Create a patient who just missed a dose, and a caregiver to whom the patient grants `alerts` and `history`."""
    with unit_of_work():
        patient_id, caregiver_id = make_user(nama_ktp="Siti").id, make_user(RoleName.PENDAMPING).id
        caregivers.create(caregiver_id, patient_id)
        caregivers.update_scopes(patient_id, caregiver_id, ["alerts", "history"])
    # Use the database's clock, as the workers do. The field `penting` ("important") allows alerts at night.
    now = real_now()
    jam = f"{now - timedelta(minutes=65):%H:%M}"
    dose = [{"jam": jam, "jumlah": 1, "satuan": "tablet"}]
    sent = {**obat["details"], "frekuensi": 1, "jadwal": dose, "penting": True}
    moment.now = now - timedelta(hours=3)
    with unit_of_work():
        new = {"tipe": "obat", "judul": "Obat", "timezone": "Asia/Jakarta", "details": sent}
        service.create(patient_id, new)
    moment.now = now
    return caregiver_id


def real_now():
    return db.session.scalar(sa.select(sa.func.clock_timestamp()))


def reach_the_patient():
    with unit_of_work():
        db.session.execute(sa.update(Delivery).filter_by(kind="reminder").values(state="sent"))


def miss():
    jobs.miss_overdue()


def alert(channel="messaging"):
    db.session.expire_all()
    return db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel=channel)).one()


def sent(sim):
    """Send all queued messages. Return the texts that the provider received."""
    outbox_jobs.drain("urgent")
    return [message.text for message in sim.messaging.sent]


def limit_to(*scopes):
    """Change the caregiver's scopes directly in the database, so that queued alerts are not cancelled."""
    with unit_of_work():
        db.session.execute(sa.update(CaregiverLink).values(scopes=list(scopes)))


def test_an_alert_reaches_the_caregivers_phone(sim, caregiver_id):
    reach_the_patient()
    miss()
    [text] = sent(sim)
    assert NAMED in text
    assert (alert().state, alert().user_id) == ("sent", caregiver_id)


@pytest.mark.usefixtures("caregiver_id")
def test_a_queued_alert_is_cancelled_if_the_caregiver_lost_the_alerts_scope(sim):
    reach_the_patient()
    miss()
    limit_to("history", "manage")
    assert sent(sim) == []
    assert [alert(channel).state for channel in ("messaging", "push_fan_out")] == ["cancelled", "cancelled"]


@pytest.mark.usefixtures("caregiver_id")
def test_a_queued_alert_omits_the_medicine_if_the_history_scope_is_lost(sim):
    reach_the_patient()
    miss()
    limit_to("alerts")
    [text] = sent(sim)
    assert NAMELESS in text
    assert "Metformin" not in text


def test_hinted_at_is_the_set_of_reminder_stock_and_alert_kinds():
    # The module that defines `HINTED_AT` must not import the modules of reminders. So it repeats the kinds as strings.
    assert {bells.KIND, stock.KIND, alerts.KIND} == HINTED_AT


@pytest.mark.usefixtures("caregiver_id")
def test_an_alert_after_an_expired_reminder_says_that_it_could_not_be_sent(sim):
    outbox_jobs.drain("urgent")  # the reminder expired before sending began
    miss()
    [text] = sent(sim)
    assert text.startswith("Pengingat Siti ")
    assert "tidak dapat kami kirim" in text


@pytest.mark.usefixtures("caregiver_id")
def test_a_push_to_one_browser_has_the_text_of_the_fan_out_push():
    reach_the_patient()
    miss()
    row = alert("push_fan_out")
    said = words_of(row)
    assert said["body"].startswith(NAMED)
    row.channel = Channel.PUSH  # a push to one browser has the same text
    assert words_of(row) == said
