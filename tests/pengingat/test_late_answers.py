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


def test_a_late_answer_is_told_at_once_to_who_heard_of_the_dose(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    moment.move(minutes=10)
    for _ in range(2):
        done(siti, path)
    assert told() == [MISSED, LATE]


def test_is_done_is_a_late_answer_too(siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    siti.put(path, {"is_done": True})
    tell()
    assert told() == [MISSED, LATE]


def test_an_answer_before_the_alert_left_is_what_is_told(
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
    assert told()[1:] == ["Siti sudah menandai obat pukul 09.30 WIB, walau terlambat."]


def test_who_says_otherwise_again_is_not_told_of_twice(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    path = make(siti, obat)
    tick(moment, "13:00")
    done(siti, path)
    for is_done in (False, True, False):
        siti.put(path, {"is_done": is_done})
        tick(moment, "13:30")
    assert told() == [MISSED, LATE]


def test_who_was_told_too_soon_hears_that_it_was_us(
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


def test_who_heard_that_it_was_us_hears_it_once(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00", sent=False)
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    with unit_of_work():  # the repeated message fails too
        missed.record_undelivered([row.id])
    tell()
    assert told() == ["Pengingat Siti pukul 19.00 WIB tidak dapat kami kirim. Boleh tolong diingatkan?"]


def test_what_reached_the_patient_by_another_channel_was_not_us(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    make(siti, obat)
    tick(moment, "13:00")
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="missed")).one()
    with unit_of_work():
        missed.record_undelivered([row.id])
    tell()
    assert told() == [MISSED]
