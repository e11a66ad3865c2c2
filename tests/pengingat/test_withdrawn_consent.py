"""Answers and messages after a person has withdrawn the consent to health data."""

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import consents
from app.identity.consents import ConsentSource, Purpose
from app.notifications.models import Delivery
from tests.helpers.client import assert_error
from tests.notifications.deliveries import words_of
from tests.pengingat.answering import create
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.links import tap


def withdraw(user_id):
    """Record the withdrawal, but cancel nothing, as if the messages were planned at the same moment."""
    with unit_of_work():
        consents.record(user_id, {Purpose.HEALTH_DATA: False}, ConsentSource.APP)


def test_no_answer_is_changed_after_a_withdrawn_consent(metformin, siti, moment):
    moment.move(hours=11, minutes=5)
    metformin.say("done")
    assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    for status in ("undo", "skipped", "done"):
        metformin.refuses("consent_withdrawn", status)
    assert ledger()[0] == "02 12:00 1 done"
    assert waiting() == []


def test_an_undo_of_a_visit_plans_nothing_after_a_withdrawn_consent(siti, moment, kontrol):
    visit = create(siti, kontrol)
    moment.move(hours=2, minutes=5)
    visit.put(is_done=True)
    siti.put("/profile/persetujuan", {"health_data": False})
    visit.refuses("consent_withdrawn", "undo")
    assert waiting() == []


def test_a_link_changes_no_answer_after_a_withdrawn_consent(client, token, siti):
    tap(client, token, "done")
    siti.put("/profile/persetujuan", {"health_data": False})
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "skipped"}), 409, "consent_withdrawn")
    page = tap(client, token, "skipped")
    assert page.status_code == 409
    assert "menarik persetujuan" in page.text
    assert ledger()[0] == "02 12:00 1 done"


def test_no_reminder_snooze_or_repeat_is_sent_after_a_withdrawn_consent(siti, moment, obat):
    reminder = create(siti, obat, ingatkan_ulang_menit=15)
    moment.move(hours=11, minutes=5)
    reminder.say("snooze")
    withdraw(siti.id)
    rows = db.session.scalars(sa.select(Delivery).filter_by(kind="reminder", state="pending")).all()
    assert {row.payload["bell"] for row in rows} == {"first", "again", "snooze"}
    assert [words_of(row) for row in rows] == [{}] * len(rows)


def test_a_withdrawal_touches_no_due_time(metformin, siti, moment):
    moment.move(hours=11, minutes=5)
    siti.put("/profile/persetujuan", {"health_data": False})
    assert ledger()[:2] == ["02 12:00 1 pending", "03 00:00 0 void"]
    siti.put("/profile/persetujuan", {"health_data": True})
    assert ledger()[:2] == ["02 12:00 1 pending", "03 00:00 0 pending"]
    assert metformin.say("done").json["due_at"] == "2026-03-02T12:00:00Z"
