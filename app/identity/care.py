"""Who cares for whom, and what the patient allows them. A link shows a name; all else the patient grants by scopes."""

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

#: What deliveries that tell of a patient are about, in the outbox.
PATIENT = "patient"
#: What deliveries that tell of a link are about.
LINK = "caregiver_link"


class Scope(StrEnum):
    """What a patient may allow a caregiver."""

    #: To be told of a missed dose.
    ALERTS = "alerts"
    #: To read what became of each dose.
    HISTORY = "history"
    #: To keep the reminders and answer them in the patient's place.
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
    """A caregiver whose link the patient has cut: only an invitation makes a new one."""

    __tablename__ = "caregiver_cuts"
    __personal__ = Personal(of=("caregiver_id", "patient_id"), export=Rows(), erase=Delete())

    patient_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    caregiver_id: Mapped[int] = mapped_column(
        sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )


def links_with(patient_id: sa.ColumnElement[int], scope: Scope) -> sa.Select[CaregiverLink]:
    """Return the links by which the patients of this column allow this now."""
    return sa.select(CaregiverLink).where(CaregiverLink.patient_id == patient_id, _has(scope))


def allows(caregiver_id: int, patient_id: int, scope: Scope) -> bool:
    """Whether the patient allows the caregiver this now.

    False where they have no link, or the patient is leaving or has withdrawn health data.
    """
    return db.session.scalar(_links(caregiver_id, patient_id, scope)) is not None


def check(caregiver_id: int, patient_id: int, scope: Scope) -> None:
    """`NotFound` unless the patient allows the caregiver this now: not even that there is such a patient is told."""
    if not allows(caregiver_id, patient_id, scope):
        raise NotFound(NOT_FOUND)


def check_locked(caregiver_id: int, patient_id: int, scope: Scope) -> None:
    """As `check`, and nobody takes it away before the unit of work ends. The patient's row is locked before."""
    if db.session.scalar(_links(caregiver_id, patient_id, scope).with_for_update(read=True)) is None:
        raise NotFound(NOT_FOUND)


def in_order(scopes: Collection[str]) -> list[str]:
    """Each scope once, in the order of the enumeration."""
    return [scope.value for scope in Scope if scope in scopes]


def _links(caregiver_id: int, patient_id: int, scope: Scope) -> sa.Select[int]:
    whose = (CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == patient_id)
    is_there = sa.exists().where(User.id == CaregiverLink.patient_id, erasure.IS_PRESENT)
    is_withdrawn = consents.is_withdrawn(CaregiverLink.patient_id, Purpose.HEALTH_DATA)
    return sa.select(CaregiverLink.id).where(*whose, _has(scope), is_there, ~is_withdrawn)


def _has(scope: Scope) -> sa.ColumnElement[bool]:
    return CaregiverLink.scopes.contains([scope])
