"""A sample activity log record, and functions that put, return and count records."""

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.logs import stream
from app.logs.models import ActivityLog

RECORD = {
    "event_type": "click",
    "event_name": "buka_artikel",
    "screen_name": "Beranda",
    "activity_description": "Membuka artikel",
    "session_id": "s-1",
    "user_ip": "203.0.113.7",
}


def put(count=1, **values):
    """Put records into the stream. `session_id` is the number of the record, unless `values` has one."""
    for n in range(count):
        stream.add({"log": "user", "session_id": str(n), "created_at": local_time.now(), "extra": {}, **values})


def rows():
    return list(db.session.scalars(sa.select(ActivityLog).order_by(ActivityLog.id)))
