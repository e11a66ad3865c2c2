"""Activity logs: accepted at once, stored by the worker."""

from __future__ import annotations

from typing import Any

from app.core.errors import Unauthorized
from app.core.lib import clock
from app.identity.sessions import caller_of
from app.logs import buffer


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
