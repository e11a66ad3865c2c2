"""Helpers that make and store entries of the activity log."""

import uuid

import orjson

from app.logs import jobs


def store(*records):
    jobs.store({str(uuid.uuid4()): orjson.dumps(record).decode() for record in records})


def record(user, moment, **values):
    return {
        "log": "user",
        "user_id": user.id if user else None,
        "created_at": moment.isoformat(),
        "event_type": "screen",
        "event_name": "open",
        "extra": {},
        **values,
    }
