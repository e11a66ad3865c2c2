"""Queries of one person's reminders. A reminder of another person is treated as not found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import NotFound
from app.identity import consents, erasure
from app.identity.consents import Purpose
from app.identity.models import User
from app.pengingat.ledger.statements import Row
from app.pengingat.models import Pengingat

NOT_FOUND = "Pengingat tidak ditemukan."


def get_own(user_id: int, pengingat_id: int) -> Pengingat:
    row = db.session.scalar(sa.select(Pengingat).where(*_is_own(user_id, pengingat_id)))
    if row is None:
        raise NotFound(NOT_FOUND)
    return row


def lock_own(user_id: int, pengingat_id: int) -> tuple[Pengingat, datetime]:
    """Lock a reminder. Return the reminder and the database's time. Raise `NotFound` if the owner is another person.

    The lock prevents other changes and background planning until the transaction ends.
    """
    query = sa.select(Pengingat, db_time.now_sql()).where(*_is_own(user_id, pengingat_id))
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
    #: Original values of the fields that an answer may change, by reminder id. Empty if the reminders belong to the
    #: SQLAlchemy session, because the session tracks their changes.
    before: Mapping[int, tuple[object, ...]] = field(default_factory=dict)

    def of(self, row: Row) -> Pengingat:
        """Return the reminder of a ledger row."""
        return self.reminders[cast(int, row.reminder_id)]

    @property
    def changed(self) -> list[Pengingat]:
        """Return the changed reminders that the caller must write. The SQLAlchemy session does not write them."""
        return [self.reminders[id_] for id_, before in self.before.items() if _state(self.reminders[id_]) != before]


#: Columns of a reminder by attribute name.
_COLUMNS = {each.key: each.columns[0] for each in sa.inspect(Pengingat).column_attrs}
_lock_many = (
    sa.select(*_COLUMNS.values(), db_time.now_sql())
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
)


def lock_own_many(user_id: int, pengingat_ids: Collection[int], only_dependent: bool = False) -> LockedReminders:
    """Lock this person's reminders with these ids, in one statement. Raise `NotFound` if there are none.

    Raise `ConsentWithdrawn` if the person has withdrawn the consent to health data.

    With `only_dependent`, also raise `NotFound` if the person is not a dependent any more, or is deleted.

    The person's row is locked first, then the reminders in the order of their ids. The deletion of a person uses the
    same order. The returned reminders do not belong to the SQLAlchemy session.
    """
    values = {"of_user": user_id, "ids": list(pengingat_ids), "only_dependent": only_dependent}
    rows = db.session.execute(_lock_many, values).all()
    if not rows:
        raise NotFound(NOT_FOUND)
    consents.check(user_id, Purpose.HEALTH_DATA)
    reminders = [Pengingat(**dict(zip(_COLUMNS, row, strict=False))) for row in rows]
    by_id = {each.id: each for each in reminders}
    return LockedReminders(by_id, rows[0][-1], {id_: _state(each) for id_, each in by_id.items()})


def _state(pengingat: Pengingat) -> tuple[object, ...]:
    return pengingat.done_from, pengingat.done_until, pengingat.details, pengingat.stock_told


def is_done(*, done: bool, now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    """Return an SQL condition for the value of `Pengingat.is_done`."""
    is_begun = sa.or_(Pengingat.done_from.is_(None), Pengingat.done_from <= now)
    holds = sa.func.coalesce(sa.and_(Pengingat.done_until > now, is_begun), sa.false())
    return holds if done else ~holds


def _is_own(user_id: int, pengingat_id: int) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return Pengingat.id == pengingat_id, Pengingat.user_id == user_id
