"""Activity logs: accepted at once, stored by the worker."""

from __future__ import annotations

from app.core.errors import Unauthorized
from app.core.lib import clock
from app.identity.sessions import caller_of
from app.logs import buffer
from app.logs.schemas import NewLog


def create(log: str, data: NewLog, *, authorization: str | None, remote_ip: str | None, user_agent: str) -> None:
    """Accept one record together with its user, sender and time; the worker stores it within seconds.

    `log` is `user` or `admin`.
    """
    buffer.put(
        {
            **data,
            "log": log,
            "user_id": _user_of(authorization),
            "remote_ip": remote_ip,
            "user_agent": user_agent[:500] or None,
            "created_at": clock.now(),
        }
    )


def _user_of(authorization: str | None) -> int | None:
    """The user of the token; None without a valid one, which is no reason to lose the record."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    try:
        return caller_of(token.strip()).id
    except Unauthorized:
        return None
