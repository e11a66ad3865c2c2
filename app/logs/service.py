"""Activity logs: accepted at once, stored by the worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core import clock
from app.core.db import db, unit_of_work
from app.core.errors import Unauthorized
from app.identity.sessions import caller_of
from app.logs import buffer
from app.logs.models import activity_logs

PRUNE_BATCH = 10_000


def accept(log: str, record: dict[str, Any], *, authorization: str | None, remote_ip: str | None, agent: str) -> None:
    """Take one record; it is stored with who and when by the worker, in a moment."""
    buffer.put(
        {
            **record,
            "log": log,
            "user_id": _user_of(authorization),
            "remote_ip": remote_ip,
            "user_agent": agent[:500] or None,
            "created_at": clock.now(),
        }
    )


def _user_of(authorization: str | None) -> int | None:
    """Who sent it, if they say so with a good token; a bad one is no reason to lose the record."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    try:
        return caller_of(token.strip()).id
    except Unauthorized:
        return None


def prune(days: int) -> int:
    """Delete rows older than so many days, in small transactions; returns how many. The daily sums stay."""
    before, total = clock.now() - timedelta(days=days), 0
    old = (
        sa.select(activity_logs.c.id)
        .where(activity_logs.c.created_at < before)
        .order_by(activity_logs.c.created_at)
        .limit(PRUNE_BATCH)
        .scalar_subquery()
    )
    while True:
        with unit_of_work():
            gone = db.session.execute(sa.delete(activity_logs).where(activity_logs.c.id.in_(old)))
            count = int(gone.rowcount)  # type: ignore[attr-defined]  # a DELETE's result counts rows
        total += count
        if count < PRUNE_BATCH:
            return total
