"""State of the sender, which is our own phone number at the provider.

After an error of the account, the sender is down. Then due messages wait instead of failing one by one, and pushes
continue. The sender is up again when a check, which runs every minute, or a webhook reports the recovery. Sometimes
neither can detect the recovery. Then single messages are sent as trials, until the provider accepts one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.jobs.queue import QUEUES
from app.core.settings import extensions, settings
from app.notifications.models import Channel, deliveries
from app.notifications.senders.models import Sender, SenderState, senders
from app.providers import fonnte
from app.providers.messenger import Health, LimitedError, SenderError

logger = logging.getLogger(__name__)

#: Seconds for which a process caches the state of the sender.
CACHED_S = 1.0
#: `TRIAL_EVERY`: minimum time between two trial messages while the sender is down, and normally the time until the
#: first trial. If the check of the sender can detect the recovery, the first trial is sent only after
#: `BLIND_TRIAL_EVERY`. In this case, a trial is needed only if the check itself fails.
TRIAL_EVERY = timedelta(minutes=1)
BLIND_TRIAL_EVERY = timedelta(minutes=10)
#: Time for which the sender stays degraded after the provider refused some messages.
LIMITED_FOR = timedelta(hours=1)
#: Maximum time until we detect that our phone is off. Messages that the provider accepted in this time may be unsent.
UNNOTICED = timedelta(minutes=2)

_rows = senders.c
_now = sa.func.statement_timestamp()
_is_down = _rows.state == SenderState.DOWN


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
    is_trial_due: bool
    until: float


def may_send(channel: Channel) -> bool:
    """Return whether a delivery of this channel may be claimed.

    While the sender is down, a message may be claimed only as a trial, which tests whether the sender works again. The
    state of the sender is cached for a second, so that not every delivery causes a query.
    """
    if channel != Channel.MESSAGING or (which := key()) is None:
        return True
    seen = _seen()
    if seen is None or monotonic() >= seen.until:
        seen = _load(which)
    return not seen.is_down or seen.is_trial_due


def admit() -> bool:
    """Return whether a claimed message is a trial, which tests whether the sender works again.

    Raise `SenderError` if the sender is down and no trial is due. If the provider accepts the trial, the caller must
    call `start`.
    """
    if (which := key()) is None or not (_seen() or _load(which)).is_down:
        return False
    if not _take_trial(which):
        clear_cache()
        raise SenderError("messaging", "the sender is down", is_seen=True)
    return True


def clear_cache() -> None:
    """Delete the cached state of the sender."""
    extensions().pop("sender", None)


def _seen() -> _Seen | None:
    seen: _Seen | None = extensions().get("sender")
    return seen


def _load(which: dict[str, str]) -> _Seen:
    row = db.session.execute(sa.select(_is_down, _rows.trial_at <= _now).where(*is_sender(which))).one_or_none()
    is_down, is_trial_due = row or (False, None)
    seen = extensions()["sender"] = _Seen(is_down, bool(is_trial_due), monotonic() + CACHED_S)
    return seen


def _take_trial(which: dict[str, str]) -> bool:
    taken = (
        sa.update(senders)
        .where(*is_sender(which), _is_down, _rows.trial_at <= _now)
        .values(trial_at=_now + TRIAL_EVERY)
        .returning(_rows.number)
    )
    return db.session.execute(taken).first() is not None


# --- recording the state ----------------------------------------------------------------------------------------------


def stop(reason: str, *, is_seen: bool) -> None:
    """Record that the sender is down. `is_seen` is true if the status check can detect this problem and its end."""
    _record(_down(reason, is_seen=is_seen))


def record_error(error: SenderError | LimitedError) -> None:
    """Record that the provider refuses all messages, or some of them."""
    if isinstance(error, SenderError):
        stop(error.reason, is_seen=error.is_seen)
    else:
        limit_reached(error.reason)


def limit_reached(reason: str) -> None:
    """Record that the provider refuses some messages for now. Other messages continue."""
    _record({"state": SenderState.DEGRADED, "reason": reason}, only=~_is_down)


def start() -> None:
    """Record that the sender is up, after an accepted trial, a report of the provider, or a command of an operator."""
    _record(_UP)


def record_health(health: Health) -> None:
    """Store the result of the check. A sender whose recovery the check cannot detect stays down."""
    reported = {name: getattr(health, name) for name in ("quality", "limit_24h", "quota")}
    values: dict[str, object] = {**reported, "checked_at": _now}
    if health.problem is not None:
        _record({**values, **_down(health.problem, is_seen=True)})
        return
    is_limited = sa.and_(_rows.state == SenderState.DEGRADED, _rows.since > _now - LIMITED_FOR)
    is_unpaid = sa.and_(_rows.reason == fonnte.NO_QUOTA, sa.literal(health.quota == 0))
    stays = sa.or_(sa.and_(_is_down, sa.or_(_rows.needs_trial, is_unpaid)), is_limited)
    mended = {
        name: sa.case((stays, _rows[name]), else_=sa.literal(value, _rows[name].type)) for name, value in _UP.items()
    }
    _record({**values, **mended}, first={**values, **_UP})


def record_quality(quality: str | None, limit_24h: int | None) -> None:
    """Store the quality rating or the 24-hour limit from an event of the provider."""
    reported = {"quality": quality, "limit_24h": limit_24h}
    if values := {name: value for name, value in reported.items() if value is not None}:
        _record(values)


_UP: dict[str, object] = {
    "state": SenderState.UP,
    "reason": None,
    "needs_trial": False,
    "trial_at": None,
    "held_since": None,
}


def _down(reason: str, *, is_seen: bool) -> dict[str, object]:
    values: dict[str, object] = {
        "state": SenderState.DOWN,
        "reason": reason,
        "needs_trial": not is_seen,
        "trial_at": _now + (BLIND_TRIAL_EVERY if is_seen else TRIAL_EVERY),
    }
    if reason == fonnte.DISCONNECTED:
        values["held_since"] = _now - UNNOTICED
    return values


def _warmup_days(which: dict[str, str]) -> sa.ColumnElement[int]:
    """Return SQL for the initial `warmup_days`: 0 for a new number, or null for a number that needs no warm-up.

    The number is new if no message was ever sent, or if the table has a row of another number. A row with an empty
    `number` does not count as another number, because `MESSAGING_NUMBER` may have been set later for the same phone.
    """
    is_another: sa.ColumnElement[bool] = sa.false()
    if which["number"]:
        is_the_same = sa.and_(_rows.provider == which["provider"], _rows.number.in_(("", which["number"])))
        is_another = sa.exists().where(~is_the_same)
    return sa.case((sa.or_(is_another, ~_has_sent), 0))


_has_sent = sa.exists().where(
    deliveries.c.queue.in_(QUEUES),
    deliveries.c.channel == Channel.MESSAGING,
    deliveries.c.settled_at.is_not(None),
    deliveries.c.provider_ref.is_not(None),
)


def _record(
    values: Mapping[str, object],
    *,
    only: sa.ColumnElement[bool] | None = None,
    first: Mapping[str, object] | None = None,
) -> None:
    """Insert the row of the sender, or update the existing row.

    The condition `only` limits the update: if `only` is false for the existing row, the row does not change. If `first`
    is given, a new row gets the values `first` instead of `values`.
    """
    which = key()
    if which is None:
        return
    change = dict(values)
    if "held_since" in values and values["held_since"] is not None and first is None:
        change["held_since"] = sa.func.coalesce(_rows.held_since, values["held_since"])
    if "state" in change:
        change["since"] = sa.case((_rows.state == change["state"], _rows.since), else_=_now)
    statement = (
        insert(senders)
        .values({**which, "warmup_days": _warmup_days(which), **(first or values)})
        .on_conflict_do_update(index_elements=[_rows.provider, _rows.number], set_=change, where=only)
        .returning(_rows.state, _rows.reason, (_rows.since == _now).label("is_new"))
    )
    row = db.session.execute(statement).one_or_none()
    clear_cache()
    if row is not None and row.is_new:
        log = logger.info if row.state == SenderState.UP else logger.error
        log("the sender of messages is %s", row.state, extra={**which, "reason": row.reason})
