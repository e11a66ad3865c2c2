"""A person's own reminder; a stranger's is no record."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import NotFound
from app.identity.models import User
from app.pengingat.models import Pengingat

NOT_FOUND = "Pengingat tidak ditemukan."


def find(user_id: int, pengingat_id: int) -> Pengingat:
    return _find(sa.select(Pengingat), user_id, pengingat_id)


def locked(user_id: int, pengingat_id: int) -> Pengingat:
    """With its row held, so that others' changes and the clock's planning come before or after, never in between."""
    query = sa.select(Pengingat).with_for_update().execution_options(populate_existing=True)
    return _find(query, user_id, pengingat_id)


def locked_after_person(user_id: int, pengingat_id: int) -> Pengingat:
    """With both rows held by one statement: first the person's, as by whoever deletes them."""
    query = sa.select(Pengingat).join(User, User.id == Pengingat.user_id)
    lock = query.with_for_update(of=[User, Pengingat], key_share=True)  # PostgreSQL locks in this order
    return _find(lock.execution_options(populate_existing=True), user_id, pengingat_id)


def _find(query: sa.Select[Pengingat], user_id: int, pengingat_id: int) -> Pengingat:
    row = db.session.scalar(query.where(Pengingat.id == pengingat_id, Pengingat.user_id == user_id))
    if row is None:
        raise NotFound(NOT_FOUND)
    return row
