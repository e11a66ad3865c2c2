"""A person's own reminder; a stranger's is no record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import NotFound
from app.identity.models import PHONE_IS_PROVEN, User
from app.pengingat.models import Pengingat
from app.pengingat.texts import Recipient

NOT_FOUND = "Pengingat tidak ditemukan."


def find(user_id: int, pengingat_id: int) -> Pengingat:
    return _find(sa.select(Pengingat), user_id, pengingat_id)


def locked(user_id: int, pengingat_id: int) -> Pengingat:
    """With its row held, so that others' changes and the clock's planning come before or after, never in between."""
    query = sa.select(Pengingat).with_for_update().execution_options(populate_existing=True)
    return _find(query, user_id, pengingat_id)


@dataclass(frozen=True)
class Held:
    """Reminders whose rows are locked behind their person's, until the unit of work ends."""

    reminders: dict[int, Pengingat]
    recipient: Recipient
    now: datetime


def hold(user_id: int, pengingat_ids: Collection[int]) -> Held:
    """Lock those of these reminders that are this person's, in one statement. `NotFound` if there are none.

    The person's row is locked first, as by whoever deletes them, then the reminders by their ids.
    """
    query = (
        sa.select(Pengingat, User.nama_ktp, PHONE_IS_PROVEN, database_clock.now_sql())
        .join(User, User.id == Pengingat.user_id)
        .where(Pengingat.user_id == user_id, Pengingat.id.in_(pengingat_ids))
        .order_by(Pengingat.id)
        .with_for_update(of=[User, Pengingat], key_share=True)  # PostgreSQL locks in this order
    )
    rows = db.session.execute(query, execution_options={"populate_existing": True}).all()
    if not rows:
        raise NotFound(NOT_FOUND)
    _, name, is_proven, now = rows[0]
    return Held({row[0].id: row[0] for row in rows}, Recipient(name, is_proven), now)


def _find(query: sa.Select[Pengingat], user_id: int, pengingat_id: int) -> Pengingat:
    row = db.session.scalar(query.where(Pengingat.id == pengingat_id, Pengingat.user_id == user_id))
    if row is None:
        raise NotFound(NOT_FOUND)
    return row
