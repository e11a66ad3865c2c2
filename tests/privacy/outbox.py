"""Helper that adds deliveries of a user to the outbox."""

from datetime import UTC, datetime, timedelta
from itertools import count

from app.core.database.session import db
from app.notifications.models import Delivery

NOW = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)

_numbers = count(1)


def add(user, channel="messaging", **fields):
    values = {
        "dedupe_key": f"test:{next(_numbers)}",
        "queue": "urgent",
        "kind": "forum_reply",
        "payload": {"about": "forum_thread", "about_id": 1},
        "due_at": NOW,
        "next_try_at": NOW,
        "expires_at": NOW + timedelta(hours=1),
        **fields,
    }
    if values.get("state", "pending") not in ("pending", "claimed"):
        values.setdefault("settled_at", NOW + timedelta(seconds=5))
    row = Delivery(user_id=user.id, channel=channel, **values)
    db.session.add(row)
    db.session.flush()
    return row
