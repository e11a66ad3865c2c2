"""What narrows a list of reminders, whose schedules are JSON and whose days are those of their own zones."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Pengingat
from app.pengingat.schedule import moment_of


def is_done(*, done: bool, now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    """As `Pengingat.is_done`, in SQL."""
    is_begun = sa.or_(Pengingat.done_from.is_(None), Pengingat.done_from <= now)
    holds = sa.func.coalesce(sa.and_(Pengingat.done_until > now, is_begun), sa.false())
    return holds if done else ~holds


def occurs_on(user_id: int, day: date) -> sa.ColumnElement[bool]:
    """With an occurrence on a day of the reminder's own zone; of a schedule that repeats, from the day it was set."""
    zones = db.session.scalars(sa.select(Pengingat.timezone).where(Pengingat.user_id == user_id).distinct())
    return sa.or_(sa.false(), *(_occurs_in(ZoneInfo(name), day) for name in zones))


def _occurs_in(zone: ZoneInfo, day: date) -> sa.ColumnElement[bool]:
    # The bounds are computed here: PostgreSQL may not know every zone that Python does.
    start, end = (moment_of(each, time(), zone) for each in (day, day + timedelta(days=1)))
    once = sa.cast(Pengingat.plan["once"].astext, sa.DateTime(timezone=True))
    slots = [Pengingat.plan.contains({"slots": [{"weekday": weekday}]}) for weekday in (None, day.weekday())]
    # Another schedule that stands in a course's place for a while has as many doses on each of its days.
    is_in_course = sa.and_(
        sa.func.coalesce(Pengingat.plan["first"].astext <= day.isoformat(), sa.true()),
        sa.func.coalesce(Pengingat.plan["last"].astext >= day.isoformat(), sa.true()),
    )
    returns = sa.and_(sa.or_(*slots), is_in_course, Pengingat.active_from < end)
    return sa.and_(Pengingat.timezone == zone.key, sa.or_(sa.and_(once >= start, once < end), returns))
