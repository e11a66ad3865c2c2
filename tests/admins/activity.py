"""Helper that buffers entries of the activity log."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from app.identity.models import User


def record(user: User | None, moment: datetime, **values: Any) -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()),
        "log": "user",
        "user_id": user.id if user else None,
        "created_at": moment.isoformat(),
        "event_type": "screen",
        "event_name": "open",
        "extra": {},
        **values,
    }
