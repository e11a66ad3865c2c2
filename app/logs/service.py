"""Activity logs. The service accepts a record at once, and the worker stores the record."""

from __future__ import annotations

from app.core.errors import Unauthorized
from app.core.lib import local_time
from app.core.web import rate_limits
from app.identity.sessions import get_caller
from app.logs import stream
from app.logs.schemas import NewLog

#: Maximum records per sender. A normal client sends a few with each screen.
MAX_PER_MINUTE, MAX_PER_DAY = 120, 5000


def create(
    log: str, data: NewLog, *, authorization: str | None, address: str, remote_ip: str | None, user_agent: str
) -> None:
    """Accept one record with its user, sender and time. The worker stores the record within seconds.

    `log` is `user` or `admin`. The limits apply per user, or per `address` if there is no valid token. Raise
    `TooManyRequests` above the limits, and `Unavailable` if the record cannot be queued.
    """
    user_id = _user_of(authorization)
    sender = f"address:{address}" if user_id is None else f"user:{user_id}"
    rate_limits.count(f"{MAX_PER_MINUTE} per minute", "logs", sender)
    rate_limits.count(f"{MAX_PER_DAY} per day", "logs", sender)
    stream.add(
        {
            **data,
            "log": log,
            "user_id": user_id,
            "remote_ip": remote_ip,
            "user_agent": user_agent[:500] or None,
            "created_at": local_time.now(),
        }
    )


def _user_of(authorization: str | None) -> int | None:
    """Return the user id of the token, or None. An invalid token does not reject the record."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    try:
        return get_caller(token.strip()).id
    except Unauthorized:
        return None
