"""Alerts that were not sent yet when the patient answered, and alerts whose caregiver link was locked."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import service as caregivers
from app.core.database.session import db, unit_of_work
from app.identity.care import CaregiverLink
from app.identity.models import RoleName
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.models import CaregiverAlert
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of
from tests.pengingat.alerts import make
from tests.pengingat.ledgers import Time, ledger, settle


def texts() -> list[str]:
    """Return the texts with which the alerts to caregivers would be sent now."""
    rows = db.session.scalars(sa.select(Delivery).filter_by(kind="alert", channel="messaging").order_by(Delivery.id))
    return [words_of(row).get("text", "") for row in rows.all()]


@pytest.fixture
def answered(siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int) -> str:
    """Return a dose whose alert is in the outbox."""
    path = make(siti, obat)
    moment.move(hours=12, minutes=1)
    settle("sent", Delivery.kind == "reminder")
    jobs.miss_overdue()
    jobs.send_caregiver_alerts()
    db.session.commit()
    assert len(texts()) == 1
    return path


def answer(siti: Client, path: str, due_at: str = "2026-03-02T12:00:00Z") -> None:
    assert siti.post(f"{path}/konfirmasi", {"status": "done", "due_at": due_at}).status_code == 200
    jobs.send_caregiver_alerts()


@pytest.mark.parametrize("state", ["pending", "failed", "missed", "cancelled"])
def test_an_alert_that_never_left_is_not_corrected(siti: Client, answered: str, state: str) -> None:
    settle(state, Delivery.kind == "alert", Delivery.channel == "messaging")
    settle("sent", Delivery.kind == "alert", Delivery.channel == "push_fan_out")  # the caregiver has no browser
    answer(siti, answered)
    assert set(texts()) == {""}


def test_an_alert_that_could_not_be_delivered_is_not_corrected(siti: Client, answered: str) -> None:
    db.session.execute(sa.update(Delivery).filter_by(kind="alert").values(state="sent", receipt="failed"))
    answer(siti, answered)
    assert set(texts()) == {""}


@pytest.mark.parametrize("channel", ["messaging", "push"])
def test_an_alert_that_left_is_corrected(siti: Client, answered: str, channel: str) -> None:
    which = sa.update(Delivery).filter_by(kind="alert", channel="messaging")
    db.session.execute(which.values(state="sent", channel=channel))
    answer(siti, answered)
    assert texts()[-1] == "Siti sudah menandai obat pukul 19.00 WIB, walau terlambat."


def test_an_alert_whose_outcome_is_unknown_is_corrected(siti: Client, answered: str) -> None:
    db.session.execute(sa.update(Delivery).filter_by(kind="alert", channel="messaging").values(unconfirmed_calls=1))
    answer(siti, answered)
    assert texts()[-1] == "Siti sudah menandai obat pukul 19.00 WIB, walau terlambat."


def test_an_alert_that_still_waits_is_dropped_when_the_dose_is_done(
    siti: Client, moment: Time, obat: dict[str, Any], answered: str
) -> None:
    settle("sent", Delivery.kind == "alert")
    moment.now = moment.now.replace(hour=12, minute=30)
    second = make(siti, obat, "12:31")
    moment.now = moment.now.replace(hour=13, minute=32)
    jobs.miss_overdue()
    jobs.send_caregiver_alerts()
    answer(siti, second, "2026-03-02T12:31:00Z")
    moment.move(hours=2)
    jobs.send_caregiver_alerts()
    assert len(texts()) == 1
    assert db.session.scalar(sa.select(sa.func.count()).where(CaregiverAlert.told_at.is_(None))) == 0


def test_a_dose_is_missed_with_its_alert_after_its_caregiver_link_was_locked(
    committed: Flask, moment: Time, obat: dict[str, Any]
) -> None:
    with unit_of_work():
        patient_id, caregiver_id = make_user().id, make_user(RoleName.PENDAMPING).id
        caregivers.create(caregiver_id, patient_id)
        caregivers.update_scopes(patient_id, caregiver_id, ["alerts"])
    with unit_of_work():
        sent: Any = {"tipe": "obat", "timezone": "Asia/Jakarta", **obat}
        service.create(patient_id, sent)
    moment.move(hours=12, minutes=1)
    with db.engine.connect() as connection, connection.begin():
        connection.execute(sa.select(CaregiverLink.id).with_for_update())
        jobs.miss_overdue()
    jobs.miss_overdue()
    db.session.expire_all()
    assert ledger()[0] == "02 12:00 1 missed"
    assert db.session.scalars(sa.select(CaregiverAlert.about)).all() == ["missed"]
