"""Overview for administrators. Growth and activity are sums of daily counters, because counting a log table is slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import sqlalchemy as sa

from app.admins.service.reports import within
from app.articles.models import Article
from app.core.database.session import Base, db
from app.core.errors import ValidationFailed
from app.core.lib.local_time import JAKARTA, today
from app.dokter.models import Dokter
from app.faskes.models import Faskes
from app.forum.models import ForumCategory, Post
from app.identity.models import Role, RoleName, User, UserDay, user_roles
from app.komunitas.models import Komunitas
from app.logs.models import ActivityLog, LogDay
from app.pengingat.models import Pengingat
from app.pengingat.types.registry import TYPES
from app.videos.models import Video

DEFAULT_DAYS = 30
MAX_DAYS = 3660
RECENT = 20


def get(start: date | None = None, end: date | None = None) -> dict[str, object]:
    """Return the overview for a range of days in Jakarta, both included."""
    start, end = _range(start, end)
    provinces = db.session.execute(_PROVINCES).all()
    categories = db.session.execute(_CATEGORIES).all()
    reminders = {row.tipe: row for row in db.session.execute(_REMINDERS)}
    roles = {row.name: row.people for row in db.session.execute(_ROLES)}
    counts = db.session.execute(_COUNTS).one()._asdict()
    growth = db.session.execute(_GROWTH, {"start": start, "end": end}).all()
    before = db.session.scalar(_BEFORE, {"start": start}) or 0
    activity = db.session.execute(_ACTIVITY, {"start": start, "end": end}).all()
    latest = db.session.execute(recent(start, end)).all()
    return {
        "range": {"start": start, "end": end, "timezone": JAKARTA.key},
        "totals": {
            "users": sum(row.count for row in provinces),
            "pasien": roles.get(RoleName.PASIEN, 0),
            "pendamping": roles.get(RoleName.PENDAMPING, 0),
            "admins": roles.get(RoleName.ADMIN, 0),
            "verified": sum(row.verified for row in provinces),
            "threads": sum(row.threads for row in categories),
            "replies": sum(row.replies for row in categories),
            "reminders": sum(row.count for row in reminders.values()),
            **counts,
        },
        "by_province": [{"province": row.domicile, "count": row.count} for row in provinces],
        "growth": list(_growth(_days(start, end), {row.day: row.users for row in growth}, before)),
        "activity": list(_activity(_days(start, end), activity)),
        "forum_categories": [row._asdict() for row in categories],
        "reminder_categories": [
            {"tipe": tipe, "count": row.count if row else 0, "done": row.done if row else 0}
            for tipe in TYPES
            for row in [reminders.get(tipe)]
        ],
        "recent_activity": [row._asdict() for row in latest],
    }


def _range(start: date | None, end: date | None) -> tuple[date, date]:
    """Return the first and last day of the overview. The default is the last 30 days, including today."""
    end = end or max(today(), start or today())
    start = start or date.fromordinal(max(1, end.toordinal() - DEFAULT_DAYS + 1))
    if (end - start).days >= MAX_DAYS:
        raise ValidationFailed({"start": ["paling jauh sepuluh tahun sebelum tanggal akhir."]})
    return start, end


def _days(start: date, end: date) -> list[date]:
    return [start + timedelta(days=n) for n in range((end - start).days + 1)]


def _growth(days: Sequence[date], registered: Mapping[date, int], before: int) -> Iterator[dict[str, object]]:
    for day in days:
        users = registered.get(day, 0)
        before += users
        yield {"date": day, "users": users, "cumulative": before}


def _activity(days: Sequence[date], rows: Sequence[sa.Row[date, int, int]]) -> Iterator[dict[str, object]]:
    by_day = {row.day: row for row in rows}
    for day in days:
        row = by_day.get(day)
        yield {"date": day, "events": row.events if row else 0, "active_users": row.active_users if row else 0}


# --- statements -----------------------------------------------------------------------------------------------------

_count = sa.func.count()

_PROVINCES = (
    sa.select(User.domicile, _count.label("count"), _count.filter(User.is_verified).label("verified"))
    .group_by(User.domicile)
    .order_by(User.domicile.is_(None), _count.desc(), User.domicile)
)

_ROLES = (
    sa.select(Role.name, sa.func.count(user_roles.c.user_id).label("people"))
    .join(user_roles, user_roles.c.role_id == Role.id)
    .group_by(Role.name)
)

_replies = (
    sa.select(Post.category_id, sa.func.sum(Post.replies_count).label("replies"))
    .where(Post.root_id.is_(None))
    .group_by(Post.category_id)
    .subquery()
)
_CATEGORIES = (
    sa.select(
        ForumCategory.id.label("category_id"),
        ForumCategory.name,
        ForumCategory.threads_count.label("threads"),
        sa.func.coalesce(_replies.c.replies, 0).label("replies"),
    )
    .outerjoin(_replies, _replies.c.category_id == ForumCategory.id)
    .order_by(ForumCategory.id)
)

_done = _count.filter(Pengingat.is_done).label("done")
_REMINDERS = sa.select(Pengingat.tipe, _count.label("count"), _done).group_by(Pengingat.tipe)


def _all(model: type[Base]) -> sa.ScalarSelect[int]:
    return sa.select(_count).select_from(model).scalar_subquery()


_COUNTS = sa.select(
    _all(Article).label("articles"),
    _all(Video).label("videos"),
    _all(Faskes).label("faskes"),
    _all(Dokter).label("dokter"),
    _all(Komunitas).label("komunitas"),
)

_start: sa.BindParameter[date] = sa.bindparam("start")
_end: sa.BindParameter[date] = sa.bindparam("end")
_GROWTH = sa.select(UserDay.day, UserDay.users).where(UserDay.day.between(_start, _end))
_BEFORE = sa.select(sa.func.sum(UserDay.users)).where(UserDay.day < _start)
_ACTIVITY = sa.select(LogDay.day, LogDay.events, LogDay.active_users).where(LogDay.day.between(_start, _end))


def recent(start: date, end: date) -> sa.Select[int, int | None, str, str | None, str | None, str | None, datetime]:
    """Return a query for the latest activity log entries within the days. An index provides the sort order."""
    return (
        sa.select(
            ActivityLog.id,
            ActivityLog.user_id,
            User.username,
            ActivityLog.event_type,
            ActivityLog.event_name,
            ActivityLog.activity_description,
            ActivityLog.created_at,
        )
        .outerjoin(User, User.id == ActivityLog.user_id)
        .where(within(ActivityLog.created_at, start, end))
        .order_by(ActivityLog.created_at.desc(), ActivityLog.id.desc())
        .limit(RECENT)
    )
