"""Helpers that make and store entries of the activity log."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import orjson

from app.identity.models import User
from app.logs import jobs


def store(*records: dict[str, Any]) -> None:
    jobs.store({str(uuid.uuid4()): orjson.dumps(record).decode() for record in records})


def record(user: User | None, moment: datetime, **values: Any) -> dict[str, Any]:
    return {
        "log": "user",
        "user_id": user.id if user else None,
        "created_at": moment.isoformat(),
        "event_type": "screen",
        "event_name": "open",
        "extra": {},
        **values,
    }
