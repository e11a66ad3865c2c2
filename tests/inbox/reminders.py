"""Helpers for sent medicine reminders and for the recorded answers."""

from __future__ import annotations

from collections.abc import Callable

from app.core.database.session import db
from app.pengingat.models import Occurrence

Sent = Callable[..., list[int]]


def read(occurrence_id: int) -> Occurrence:
    db.session.expire_all()
    return db.session.get_one(Occurrence, occurrence_id)


def state(occurrence_id: int) -> str:
    return read(occurrence_id).state
