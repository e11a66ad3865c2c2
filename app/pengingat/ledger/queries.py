"""Queries of one person's reminders. A reminder of another person is treated as not found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import NotFound
from app.identity import consents, erasure
from app.identity.consents import ConsentWithdrawn, Purpose
from app.identity.models import User
from app.pengingat.models import Occurrence, Pengingat

NOT_FOUND = "Pengingat tidak ditemukan."


def shown(*which: sa.ColumnElement[bool]) -> sa.Select[Pengingat]:
    """Return a query of these reminders with their `is_done`."""
    rows = sa.select(Pengingat).where(*which).options(orm.undefer(Pengingat.is_done))
    return rows.execution_options(populate_existing=True)  # a later answer changes `is_done`


def get_own(user_id: int, pengingat_id: int) -> Pengingat:
    row = db.session.scalar(shown(*_is_own(user_id, pengingat_id)))
    if row is None:
        raise NotFound(NOT_FOUND)
    return row


def lock_own(user_id: int, pengingat_id: int) -> tuple[Pengingat, datetime]:
    """Lock a reminder. Return the reminder and the database's time. Raise `NotFound` if the owner is another person.

    The lock prevents other changes and background planning until the transaction ends.
    """
    query = shown(*_is_own(user_id, pengingat_id)).add_columns(db_time.now_sql())
    lock = query.with_for_update(of=Pengingat).execution_options(populate_existing=True)
    row = db.session.execute(lock).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    return row[0], row[1]


@dataclass(frozen=True)
class LockedReminders:
    """Reminders whose rows are locked until the transaction ends. The person's row was locked before them."""

    reminders: Mapping[int, Pengingat]
    now: datetime

    def of(self, row: Occurrence) -> Pengingat:
        """Return the reminder of a ledger row."""
        return self.reminders[cast(int, row.reminder_id)]


_lock_many = (
    sa.select(Pengingat, db_time.now_sql(), consents.is_withdrawn(User.id, Purpose.HEALTH_DATA))
    .join_from(Pengingat, User, User.id == Pengingat.user_id)
    .where(
        Pengingat.user_id == sa.bindparam("of_user", type_=sa.BigInteger),
        Pengingat.id == sa.any_(sa.bindparam("ids", type_=ARRAY(sa.BigInteger))),
        # PostgreSQL checks this condition again after a wait for the lock, so changes during the wait are noticed.
        sa.or_(
            ~sa.bindparam("only_dependent", type_=sa.Boolean()),
            sa.and_(User.guardian_id.is_not(None), erasure.IS_PRESENT),
        ),
    )
    .order_by(Pengingat.id)
    .with_for_update(of=[User, Pengingat], key_share=True)  # locks users before reminders
    .execution_options(populate_existing=True)
)


def lock_own_many(user_id: int, pengingat_ids: Collection[int], only_dependent: bool = False) -> LockedReminders:
    """Lock this person's reminders with these ids, in one statement. Raise `NotFound` if there are none.

    Raise `ConsentWithdrawn` if the person has withdrawn the consent to health data. With `only_dependent`, also raise
    `NotFound` if the person is not a dependent any more, or is deleted. The person's row is locked first, then the
    reminders in the order of their ids. The deletion of a person uses the same order.
    """
    values = {"of_user": user_id, "ids": list(pengingat_ids), "only_dependent": only_dependent}
    found = db.session.execute(_lock_many, values).all()
    if not found:
        raise NotFound(NOT_FOUND)
    _, now, is_withdrawn = found[0]
    if is_withdrawn:
        raise ConsentWithdrawn
    return LockedReminders({row[0].id: row[0] for row in found}, now)


def _is_own(user_id: int, pengingat_id: int) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return Pengingat.id == pengingat_id, Pengingat.user_id == user_id
