"""A sample activity log record, and functions that return stored and waiting records."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.jobs import queue
from app.logs import buffer
from app.logs.models import ActivityLog

RECORD = {
    "event_type": "click",
    "event_name": "buka_artikel",
    "screen_name": "Beranda",
    "activity_description": "Membuka artikel",
    "session_id": "s-1",
    "user_ip": "203.0.113.7",
}


def rows() -> list[ActivityLog]:
    return list(db.session.scalars(sa.select(ActivityLog).order_by(ActivityLog.id)))


def waiting() -> int:
    return int(queue.connection().llen(buffer.WAITING))
