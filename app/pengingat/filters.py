"""What narrows a list of reminders."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from app.pengingat.models import Pengingat


def is_done(*, done: bool, now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    """As `Pengingat.is_done`, in SQL."""
    is_begun = sa.or_(Pengingat.done_from.is_(None), Pengingat.done_from <= now)
    holds = sa.func.coalesce(sa.and_(Pengingat.done_until > now, is_begun), sa.false())
    return holds if done else ~holds
