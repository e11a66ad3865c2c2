"""Consents of people. A person gives or withdraws a consent for each purpose. Earlier answers are kept as proof.

A person who was never asked for a consent has no row, and counts as having agreed, because old clients do not ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, db
from app.core.errors import Conflict

#: Version of the text that people agree to. Increase this number when the meaning of the text changes.
VERSION = "1"


class Purpose(StrEnum):
    #: Reminders, and the person's answers to the reminders.
    HEALTH_DATA = "health_data"
    #: Broadcasts with news. `User.accepts_broadcasts` has the current choice, and `Consent` has only the proof.
    BROADCASTS = "broadcasts"


class ConsentSource(StrEnum):
    REGISTRATION = "registration"
    APP = "app"
    MESSAGE = "message"


class Consent(Base, Created):
    """A person's answer for one purpose, valid from `created_at` until `ended_at`."""

    __tablename__ = "consents"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str]
    granted: Mapped[bool]
    version: Mapped[str] = mapped_column(comment="version of the consent text that the person agreed to")
    way: Mapped[str]
    ended_at: Mapped[datetime | None] = mapped_column(
        comment="when a later answer replaced this answer; null: still valid"
    )

    __table_args__ = (
        sa.Index(
            "uq_consents_present", "user_id", "purpose", unique=True, postgresql_where=sa.text("ended_at IS NULL")
        ),
        # Index for the job that deletes the reminders of people who have withdrawn their consent.
        sa.Index(
            "ix_consents_withdrawn",
            "purpose",
            "created_at",
            postgresql_where=sa.text("ended_at IS NULL AND NOT granted"),
        ),
    )


def record(user_id: int, choices: Mapping[Purpose, bool], way: ConsentSource) -> set[Purpose]:
    """Record a person's answers. Return the purposes for which the answer changed.

    The person's row must be locked. An unchanged answer is not recorded again. A missing answer counts as yes. If a
    person's first answer for a purpose is yes, the answer is therefore recorded, but the purpose is not returned.
    """
    if not choices:
        return set()
    present = current(user_id)
    changes = {
        purpose for purpose, granted in choices.items() if purpose not in present or present[purpose].granted != granted
    }
    db.session.execute(
        sa.update(Consent)
        .where(Consent.user_id == user_id, Consent.purpose.in_(changes), Consent.ended_at.is_(None))
        .values(ended_at=sa.func.now())
        .execution_options(synchronize_session=False)
    )
    db.session.add_all(
        [
            Consent(user_id=user_id, purpose=purpose, granted=choices[purpose], version=VERSION, way=way)
            for purpose in sorted(changes)
        ]
    )
    db.session.flush()
    return {purpose for purpose in changes if purpose in present or not choices[purpose]}


def current(user_id: int) -> dict[Purpose, Consent]:
    """Return a person's current answers by purpose. A purpose without an answer is missing."""
    rows = db.session.scalars(sa.select(Consent).where(Consent.user_id == user_id, Consent.ended_at.is_(None)))
    return {Purpose(row.purpose): row for row in rows}


class ConsentWithdrawn(Conflict):
    code = "consent_withdrawn"
    message = "Anda menarik persetujuan data kesehatan. Berikan lagi di profil untuk memakai pengingat."


def check(user_id: int, purpose: Purpose) -> None:
    """Raise `ConsentWithdrawn` if the person has withdrawn this consent.

    The person's row must be locked, so that the answer cannot change before the commit.
    """
    if db.session.scalar(sa.select(is_withdrawn(user_id, purpose))):
        raise ConsentWithdrawn


def is_withdrawn(user_id: object, purpose: Purpose) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if a person has withdrawn a consent.

    `user_id` is an id or a column of ids.
    """
    return sa.exists().where(
        Consent.user_id == user_id,
        Consent.purpose == sa.literal_column(f"'{purpose}'"),
        Consent.ended_at.is_(None),
        ~Consent.granted,
    )
