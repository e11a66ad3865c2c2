"""Corrections of an alert: the patient answered later, or our service had failed to deliver the reminder."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.models import Delivery
from app.pengingat.ledger import missed
from app.pengingat.models import Occurrence
from tests.helpers.client import Client
from tests.pengingat.alerts import MISSED, done, make, tell, tick, told
from tests.pengingat.ledgers import Time, settle

LATE = "Siti sudah menandai obat pukul 19.00 WIB, walau terlambat."


def test_a_late_answer_after_the_alert_sends_one_correction(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    moment.move(minutes=10)
    for _ in range(2):
        done(siti, path)
    assert told() == [MISSED, LATE]


def test_setting_is_done_after_the_alert_also_sends_a_correction(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    siti.put(path, {"is_done": True})
    tell()
    assert told() == [MISSED, LATE]


def test_a_late_answer_before_a_delayed_alert_cancels_the_alert(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat, "02:00")
    path = make(siti, obat, "02:30")
    tick(moment, "03:00")
    tick(moment, "03:30")
    assert len(told()) == 1  # the second alert waits until two hours after the first
    done(siti, path, "2026-03-02T02:30:00Z")
    tick(moment, "04:59")
    assert len(told()) == 1
    tick(moment, "05:00")
    assert len(told()) == 1


def test_repeated_changes_of_is_done_send_no_second_correction(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    done(siti, path)
    for is_done in (False, True, False):
        siti.put(path, {"is_done": is_done})
        tick(moment, "13:30")
    assert told() == [MISSED, LATE]


def test_a_delivery_failure_after_the_alert_sends_one_correction(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    for _ in range(2):  # the provider reports a failure after the alert
        settle("missed", Delivery.occurrence_id == row.id)
        with unit_of_work():
            missed.record_undelivered([row.id])
        tell()
    assert told() == [MISSED, "Pengingat Siti pukul 19.00 WIB tidak dapat kami kirim. Boleh tolong diingatkan?"]


def test_the_alert_about_an_undelivered_reminder_is_sent_once(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00", sent=False)
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    with unit_of_work():  # the repeated message fails too
        missed.record_undelivered([row.id])
    tell()
    assert told() == ["Pengingat Siti pukul 19.00 WIB tidak dapat kami kirim. Boleh tolong diingatkan?"]


def test_no_correction_is_sent_if_another_channel_delivered_the_reminder(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    with unit_of_work():
        missed.record_undelivered([row.id])
    tell()
    assert told() == [MISSED]
