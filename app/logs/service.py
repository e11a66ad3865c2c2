"""Activity logs. The service accepts a record at once, and the worker stores the record."""

from __future__ import annotations

from prometheus_client import Counter

from app.core.errors import Unauthorized
from app.core.lib import local_time
from app.core.web import rate_limits
from app.identity.sessions import get_caller
from app.logs import buffer
from app.logs.schemas import NewLog

#: Counter of records above a sender's limits. Nothing else is stored about these records.
DROPPED = Counter("activity_logs_dropped_total", "Log records dropped because their sender sent too many")


def create(
    log: str, data: NewLog, *, authorization: str | None, address: str, remote_ip: str | None, user_agent: str
) -> None:
    """Accept one record with its user, sender and time. The worker stores the record within seconds.

    `log` is `user` or `admin`. The limits apply per user, or per `address` if there is no valid token. A record
    above the limits is dropped and counted, without an error for the client.
    """
    user_id = _user_of(authorization)
    sender = None
    if rate_limits.are_enabled():
        sender = f"address:{address}" if user_id is None else f"user:{user_id}"
    accepted = buffer.put(
        {
            **data,
            "log": log,
            "user_id": user_id,
            "remote_ip": remote_ip,
            "user_agent": user_agent[:500] or None,
            "created_at": local_time.now(),
        },
        sender=sender,
    )
    if not accepted:
        DROPPED.inc()


def _user_of(authorization: str | None) -> int | None:
    """Return the user id of the token, or None. An invalid token does not reject the record."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    try:
        return get_caller(token.strip()).id
    except Unauthorized:
        return None
