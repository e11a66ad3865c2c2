"""What people agreed to, for which purpose, and how they said so. What was said before is kept: it is the proof.

Who was never asked has no row: an account made by a client that knows nothing of this works as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, db
from app.core.errors import BadRequest, Conflict

#: Of the text that people agree to; raised with each change of its meaning.
VERSION = "1"


class Purpose(StrEnum):
    #: The account itself.
    SERVICE = "service"
    #: Reminders and what became of them.
    HEALTH_DATA = "health_data"
    #: Whether they are wanted stands in `User.accepts_broadcasts` alone; the rows here say since when.
    BROADCASTS = "broadcasts"
    #: That caregivers see what the person lets them see.
    CAREGIVERS = "caregivers"


class Way(StrEnum):
    """How somebody said it."""

    REGISTRATION = "registration"
    APP = "app"
    MESSAGE = "message"


#: What people read when they do what they have withdrawn their consent to.
WITHDRAWN = {
    Purpose.HEALTH_DATA: "Anda menarik persetujuan data kesehatan. Berikan lagi di profil untuk memakai pengingat.",
    Purpose.CAREGIVERS: "Anda menarik persetujuan untuk pendamping. Berikan lagi di profil untuk memberi izin.",
}


class Consent(Base, Created):
    """What a person said of one purpose, from `created_at` until they said something else."""

    __tablename__ = "consents"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str]
    granted: Mapped[bool]
    version: Mapped[str] = mapped_column(comment="of the text that was agreed to")
    way: Mapped[str]
    ended_at: Mapped[datetime | None] = mapped_column(comment="null: it still holds")

    __table_args__ = (
        sa.Index(
            "uq_consents_present", "user_id", "purpose", unique=True, postgresql_where=sa.text("ended_at IS NULL")
        ),
        # Those few whose reminders wait to be deleted.
        sa.Index(
            "ix_consents_withdrawn",
            "purpose",
            "created_at",
            postgresql_where=sa.text("ended_at IS NULL AND NOT granted"),
        ),
    )


class ConsentWishes(TypedDict, total=False):
    """What somebody sends: a value for each purpose that they speak of."""

    service: bool
    health_data: bool
    broadcasts: bool
    caregivers: bool


def record(user_id: int, wishes: Mapping[Purpose, bool], way: Way) -> set[Purpose]:
    """Record what a person says of these purposes; returns those of which they said something else until now.

    The caller has locked the person's row. What they said already is not recorded again, and who was never asked
    counts as having agreed.
    """
    if not wishes:
        return set()
    present = current(user_id)
    changes = {
        purpose for purpose, granted in wishes.items() if purpose not in present or present[purpose].granted != granted
    }
    db.session.execute(
        sa.update(Consent)
        .where(Consent.user_id == user_id, Consent.purpose.in_(changes), Consent.ended_at.is_(None))
        .values(ended_at=sa.func.now())
        .execution_options(synchronize_session=False)
    )
    db.session.add_all(
        [
            Consent(user_id=user_id, purpose=purpose, granted=wishes[purpose], version=VERSION, way=way)
            for purpose in sorted(changes)
        ]
    )
    db.session.flush()
    return {purpose for purpose in changes if purpose in present or not wishes[purpose]}


def current(user_id: int) -> dict[Purpose, Consent]:
    """What a person said last of each purpose that they were asked about."""
    rows = db.session.scalars(sa.select(Consent).where(Consent.user_id == user_id, Consent.ended_at.is_(None)))
    return {Purpose(row.purpose): row for row in rows}


class ConsentWithdrawn(Conflict):
    code = "consent_withdrawn"


class ServiceNeeded(BadRequest):
    code = "service_needed"
    message = "Tanpa persetujuan layanan akun tidak dapat dipakai. Bila Anda ingin berhenti, hapus akun Anda."


def check(user_id: int, purpose: Purpose) -> None:
    """`ConsentWithdrawn` where the person has taken this back. Their row is locked, so that it stays as it is."""
    if db.session.scalar(sa.select(is_withdrawn(user_id, purpose))):
        raise ConsentWithdrawn(WITHDRAWN[purpose])


def is_withdrawn(user_id: object, purpose: Purpose) -> sa.ColumnElement[bool]:
    """Whether a person (an id, or a column of ids) has withdrawn a consent, as a condition of SQL."""
    return sa.exists().where(
        Consent.user_id == user_id,
        Consent.purpose == sa.literal_column(f"'{purpose}'"),
        Consent.ended_at.is_(None),
        ~Consent.granted,
    )
