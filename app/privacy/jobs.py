"""Deletion of a patient's reminders after the patient withdrew the consent for health data."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import users
from app.identity.consents import Consent, Purpose
from app.pengingat import withdrawal
from app.pengingat.models import Occurrence, Pengingat

#: Time in which a patient can undo the withdrawal. The job runs every hour, and must delete the data within 72 hours.
GRACE = timedelta(hours=70)


def delete_withdrawn() -> int:
    """Delete the reminders of patients who withdrew the consent for health data more than `GRACE` ago.

    Return the number of patients. Each patient is one transaction. If the job is killed, the next run continues.
    """
    has_any = sa.or_(*(sa.exists().where(table.user_id == Consent.user_id) for table in (Pengingat, Occurrence)))
    with unit_of_work():
        people = db.session.scalars(sa.select(Consent.user_id).where(_is_over(), has_any)).all()
    return sum(_delete(user_id) for user_id in people)


def _delete(user_id: int) -> bool:
    """Delete a patient's reminders, unless the patient gave the consent again in the meantime."""
    with unit_of_work():
        users.lock(user_id)
        if db.session.scalar(sa.select(Consent.id).where(_is_over(), Consent.user_id == user_id)) is None:
            return False
        withdrawal.delete_all(user_id)
    return True


def _is_over() -> sa.ColumnElement[bool]:
    return sa.and_(
        Consent.purpose == sa.literal_column(f"'{Purpose.HEALTH_DATA}'"),
        Consent.ended_at.is_(None),
        ~Consent.granted,
        Consent.created_at <= sa.func.now() - GRACE,
    )
