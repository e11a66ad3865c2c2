"""State of the sender, which is our own phone number at the provider.

After an error of the account, the sender is down. Then due messages wait instead of failing one by one, and pushes
continue. One due message a minute is tried. If the provider accepts it, the sender is up again. A check that finds no
problem ends the state too, but only 10 minutes after the last refusal, because a check does not see every problem.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import sqlalchemy as sa
from redis.exceptions import RedisError
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.jobs.queue import connection
from app.core.settings import extensions, settings
from app.core.web import rate_limits
from app.notifications.models import Channel
from app.notifications.senders.models import Sender, SenderState, senders
from app.providers.messenger import Health, LimitedError, SenderError

logger = logging.getLogger(__name__)

#: Seconds for which a process caches the state of the sender.
CACHED_S = 1.0
#: How often a due message is tried while the sender is down.
TRY = "1 per minute", "sender.try"
#: Redis key that exists for `REFUSED_S` seconds after a refusal, during which a good check does not end the state.
REFUSED, REFUSED_S = "sender:refused", 600

_rows = senders.c
_now = sa.func.statement_timestamp()


def key() -> dict[str, str] | None:
    """Return the key of the sender's row, from the settings. Return None if messages are only stored, never sent."""
    if settings.messaging_provider == "outbox":
        return None
    number = settings.messaging_sender_id if settings.messaging_provider == "whatsapp_cloud" else None
    return {"provider": settings.messaging_provider, "number": number or settings.messaging_number or ""}


def current() -> Sender | None:
    """Return the row of the sender, or None if there is no such row yet."""
    which = key()
    if which is None:
        return None
    row = db.session.execute(sa.select(*senders.c).where(*is_sender(which))).mappings().one_or_none()
    return Sender(**row) if row else None


def is_sender(which: dict[str, str]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions that select the row of a sender."""
    return [_rows[name] == value for name, value in which.items()]


# --- whether messages may be sent -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    is_down: bool
    is_red: bool
    until: float


def may_send(channel: Channel) -> bool:
    """Return whether a delivery of this channel may be sent now, at least as the try of this minute."""
    return not _is_down(channel) or rate_limits.is_allowed(*TRY, take=False)


def may_claim(channel: Channel) -> bool:
    """Return whether a delivery of this channel may be claimed. While the sender is down, take the try of the minute.

    The state of the sender is cached for a second, so that not every delivery causes a query.
    """
    return not _is_down(channel) or rate_limits.is_allowed(*TRY, take=True)


def is_red() -> bool:
    """Return whether recipients rate our messages so badly that broadcasts must stop."""
    return _seen().is_red


def clear_cache() -> None:
    """Delete the cached state of the sender."""
    extensions().pop("sender", None)


def _is_down(channel: Channel) -> bool:
    return channel == Channel.MESSAGING and _seen().is_down


def _seen() -> _Seen:
    seen: _Seen | None = extensions().get("sender")
    if seen is None or monotonic() >= seen.until:
        sender = current()
        is_down = sender is not None and sender.state == SenderState.DOWN
        is_red = sender is not None and sender.quality == "red"
        seen = extensions()["sender"] = _Seen(is_down, is_red, monotonic() + CACHED_S)
    return seen


# --- recording the state ----------------------------------------------------------------------------------------------


def record_error(error: SenderError | LimitedError) -> None:
    """Record that the provider refuses all messages, or some of them."""
    with suppress(RedisError):
        connection().set(REFUSED, 1, ex=REFUSED_S)
    if isinstance(error, SenderError):
        _record({"state": SenderState.DOWN, "reason": error.reason})
    else:
        _record({"state": SenderState.DEGRADED, "reason": error.reason}, only=_rows.state != SenderState.DOWN)


def record_accepted() -> None:
    """Record that the provider has accepted a message. If the sender was down, it is up again."""
    if _seen().is_down:
        with suppress(RedisError):
            connection().delete(REFUSED)
        _record(_UP)


def record_health(health: Health) -> None:
    """Store the result of the check. After a refusal, a good check changes the state only when `REFUSED_S` is over."""
    values = {name: getattr(health, name) for name in ("quality", "limit_24h", "quota")} | {"checked_at": _now}
    if health.problem is not None:
        values |= {"state": SenderState.DOWN, "reason": health.problem}
    elif not connection().exists(REFUSED):
        values |= _UP
    _record(values)


_UP: dict[str, object] = {"state": SenderState.UP, "reason": None}


def _record(values: dict[str, object], *, only: sa.ColumnElement[bool] | None = None) -> None:
    """Insert the row of the sender, or update the existing row if the condition `only` is true for it."""
    which = key()
    if which is None:
        return
    change = dict(values)
    if "state" in change:
        change["since"] = sa.case((_rows.state == change["state"], _rows.since), else_=_now)
    statement = (
        insert(senders)
        .values({**which, **values})
        .on_conflict_do_update(index_elements=[_rows.provider, _rows.number], set_=change, where=only)
        .returning(_rows.state, _rows.reason, (_rows.since == _now).label("is_new"))
    )
    row = db.session.execute(statement).one_or_none()
    clear_cache()
    if row is not None and row.is_new:
        log = logger.info if row.state == SenderState.UP else logger.error
        log("the sender of messages is %s", row.state, extra={**which, "reason": row.reason})
