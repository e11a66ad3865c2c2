"""How our own number is: what the provider says of it decides whether messages leave.

An error of the account stops the sender and not row after row: what is due waits untried and pushes go on. The check of
every minute or a webhook starts it again, or where neither can tell, one message that is tried and taken.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import autocommit, current_connection
from app.core.jobs.queue import QUEUES
from app.core.settings import extensions, settings
from app.notifications.models import Channel, deliveries
from app.notifications.senders.models import Sender, SenderState, senders
from app.providers import fonnte
from app.providers.messenger import Health, SenderError

logger = logging.getLogger(__name__)

#: Seconds that a process believes what it saw of the sender.
BELIEVED_S = 1.0
#: How often a message tries a sender that only a message can try; and one that the check sees, should that not answer.
TRIAL_EVERY = timedelta(minutes=1)
BLIND_TRIAL_EVERY = timedelta(minutes=10)
#: A provider that took nobody new is believed for so long.
LIMITED_FOR = timedelta(hours=1)
#: What the provider accepted so long before we knew that its phone is off, it may hold.
UNNOTICED = timedelta(minutes=2)

_rows = senders.c
_now = sa.func.statement_timestamp()
_is_down = _rows.state == SenderState.DOWN


def key() -> dict[str, str] | None:
    """The sender that the settings name; None when messages leave for nowhere."""
    if settings.messaging_provider == "outbox":
        return None
    number = settings.messaging_sender_id if settings.messaging_provider == "whatsapp_cloud" else None
    return {"provider": settings.messaging_provider, "number": number or settings.messaging_number or ""}


def current() -> Sender | None:
    """The sender as it is now; None while nothing is known of it."""
    which = key()
    if which is None:
        return None
    with autocommit() as connection:
        row = connection.execute(sa.select(*senders.c).where(*is_sender(which))).mappings().one_or_none()
    return Sender(**row) if row else None


def is_sender(which: dict[str, str]) -> list[sa.ColumnElement[bool]]:
    """The row of a sender."""
    return [_rows[name] == value for name, value in which.items()]


# --- whether messages leave -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    is_down: bool
    is_trial_due: bool
    until: float


def may_send(channel: Channel) -> bool:
    """Whether a delivery of this channel may be claimed: not a message while the sender is down, but for a trial.

    It costs a statement once a second, and not one for each delivery.
    """
    if channel != Channel.MESSAGING or (which := key()) is None:
        return True
    seen = _seen()
    if seen is None or monotonic() >= seen.until:
        seen = _look(which)
    return not seen.is_down or seen.is_trial_due


def admit() -> bool:
    """Let a claimed message through: any while the sender is not down, else one a minute as a trial.

    Returns whether it is one: should the provider take it, the sender is up again (`start`). Raises `SenderError`.
    """
    if (which := key()) is None or not (_seen() or _look(which)).is_down:
        return False
    if not _take_trial(which):
        forget_look()
        raise SenderError("messaging", "the sender is down", is_seen=True)
    return True


def forget_look() -> None:
    """Look at the sender anew."""
    extensions().pop("sender", None)


def _seen() -> _Seen | None:
    seen: _Seen | None = extensions().get("sender")
    return seen


def _look(which: dict[str, str]) -> _Seen:
    with autocommit() as connection:
        row = connection.execute(sa.select(_is_down, _rows.trial_at <= _now).where(*is_sender(which))).one_or_none()
    is_down, is_trial_due = row or (False, None)
    seen = extensions()["sender"] = _Seen(is_down, bool(is_trial_due), monotonic() + BELIEVED_S)
    return seen


def _take_trial(which: dict[str, str]) -> bool:
    taken = (
        sa.update(senders)
        .where(*is_sender(which), _is_down, _rows.trial_at <= _now)
        .values(trial_at=_now + TRIAL_EVERY)
        .returning(_rows.number)
    )
    with autocommit() as connection:
        return connection.execute(taken).first() is not None


# --- what becomes known of it -----------------------------------------------------------------------------------------


def stop(reason: str, *, is_seen: bool) -> None:
    """Nothing leaves from now on, for what the sender is; `is_seen` says that the check can tell when it is over."""
    _note(_down(reason, is_seen=is_seen))


def limit_reached(reason: str) -> None:
    """The provider takes nobody new for now; the rest goes on."""
    _note({"state": SenderState.DEGRADED, "reason": reason}, only=~_is_down)


def start() -> None:
    """Messages leave again: a trial was taken, the provider told so, or the operator wants it."""
    _note(_UP)


def note(health: Health) -> None:
    """What the check found. It starts nothing again whose end it cannot see."""
    told = {name: getattr(health, name) for name in ("quality", "limit_24h", "quota")}
    values: dict[str, object] = {**told, "checked_at": _now}
    if health.problem is not None:
        _note({**values, **_down(health.problem, is_seen=True)})
        return
    is_limited = sa.and_(_rows.state == SenderState.DEGRADED, _rows.since > _now - LIMITED_FOR)
    is_unpaid = sa.and_(_rows.reason == fonnte.NO_QUOTA, sa.literal(health.quota == 0))
    stays = sa.or_(sa.and_(_is_down, sa.or_(_rows.needs_trial, is_unpaid)), is_limited)
    mended = {
        name: sa.case((stays, _rows[name]), else_=sa.literal(value, _rows[name].type)) for name, value in _UP.items()
    }
    _note({**values, **mended}, first={**values, **_UP})


def note_quality(quality: str | None, limit_24h: int | None) -> None:
    """The provider told by itself what recipients think of the number, or how many it may write to."""
    told = {"quality": quality, "limit_24h": limit_24h}
    if values := {name: value for name, value in told.items() if value is not None}:
        _note(values)


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
    """0 for a number that is new, null for one that has written to people already.

    Who has just told which number it is that Fonnte drives has no new one.
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


def _note(
    values: Mapping[str, object],
    *,
    only: sa.ColumnElement[bool] | None = None,
    first: Mapping[str, object] | None = None,
) -> None:
    """Change the sender's row where `only` holds, or make it (of `first`, where `values` look at the row)."""
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
    with current_connection() as connection:
        row = connection.execute(statement).one_or_none()
    forget_look()
    if row is not None and row.is_new:
        log = logger.info if row.state == SenderState.UP else logger.error
        log("the sender of messages is %s", row.state, extra={**which, "reason": row.reason})
