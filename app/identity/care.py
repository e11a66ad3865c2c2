"""Links between caregivers and patients, and the scopes (permissions) that a patient gives a caregiver.

Without a scope, a caregiver sees only the patient's username, name, picture and province.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, db
from app.core.errors import NotFound
from app.identity import consents, erasure
from app.identity.consents import Purpose
from app.identity.models import User

NOT_FOUND = "Pasien tidak ditemukan."


class Scope(StrEnum):
    """A permission that a patient can give a caregiver."""

    #: Get alerts about missed doses.
    ALERTS = "alerts"
    #: Read the patient's answers about each dose. `MANAGE` includes this.
    HISTORY = "history"
    #: Change the patient's reminders, and answer them for the patient.
    MANAGE = "manage"


class CaregiverLink(Base, Created):
    __tablename__ = "caregiver_links"
    __personal__ = Personal(of=("caregiver_id", "patient_id"), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    caregiver_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    patient_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    scopes: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="what the patient allows: alerts, history, manage"
    )

    __table_args__ = (
        sa.UniqueConstraint("caregiver_id", "patient_id"),
        sa.CheckConstraint("caregiver_id <> patient_id", name="two_people"),
        sa.Index("ix_caregiver_links_created_at", "created_at", "id"),
    )


class CaregiverCut(Base, Created):
    """A caregiver link that the patient has deleted. The caregiver can get a new link only by an invitation."""

    __tablename__ = "caregiver_cuts"
    __personal__ = Personal(of=("caregiver_id", "patient_id"), export=Rows(), erase=Delete())

    patient_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    caregiver_id: Mapped[int] = mapped_column(
        sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )


def allows(caregiver_id: int, patient_id: int, *scopes: Scope) -> bool:
    """Return whether the patient allows the caregiver one of these scopes.

    Return False if the patient has requested erasure, or has withdrawn the consent for health data.
    """
    return db.session.scalar(_links(caregiver_id, patient_id, *scopes)) is not None


def check(caregiver_id: int, patient_id: int, *scopes: Scope) -> None:
    """Raise `NotFound` if the patient allows none of these scopes.

    `Forbidden` would reveal that the patient exists.
    """
    if not allows(caregiver_id, patient_id, *scopes):
        raise NotFound(NOT_FOUND)


def check_locked(caregiver_id: int, patient_id: int, *scopes: Scope) -> None:
    """Do the same as `check`, and lock the link, so that nobody can remove the scope before the commit.

    The patient's row must be locked already.
    """
    if db.session.scalar(_links(caregiver_id, patient_id, *scopes).with_for_update(read=True)) is None:
        raise NotFound(NOT_FOUND)


def in_order(scopes: Collection[str]) -> list[str]:
    """Return the scopes without duplicates, in the order of `Scope`."""
    return [scope.value for scope in Scope if scope in scopes]


def _links(caregiver_id: int, patient_id: int, *scopes: Scope) -> sa.Select[int]:
    whose = (CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == patient_id)
    is_there = sa.exists().where(User.id == CaregiverLink.patient_id, erasure.IS_PRESENT)
    is_withdrawn = consents.is_withdrawn(CaregiverLink.patient_id, Purpose.HEALTH_DATA)
    return sa.select(CaregiverLink.id).where(*whose, has(*scopes), is_there, ~is_withdrawn)


def has(*scopes: Scope) -> sa.ColumnElement[bool]:
    """Return an SQL condition for caregiver links with one of these scopes."""
    return sa.or_(*(CaregiverLink.scopes.contains([scope]) for scope in scopes))
