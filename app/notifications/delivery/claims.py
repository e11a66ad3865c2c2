"""Claims: a delivery is claimed in one transaction, sent in none, settled in the next."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database.session import db, unit_of_work
from app.core.settings import settings
from app.notifications.models import OPEN, State, deliveries

#: Seconds of a claim's lease; longer than every provider's time budget. A dead worker's row waits for its end.
LEASE_S = 30
#: So many workers died while they sent a row: it fails.
POISON_DEATHS = 3
MAX_RETRY_S = 1800


@dataclass(frozen=True)
class Claimed:
    """A delivery that only this worker may send now."""

    id: int
    claim_token: uuid.UUID
    dedupe_key: str
    queue: str
    kind: str
    subject: str | None
    user_id: int | None
    target: str | None
    payload: Mapping[str, object]
    due_at: datetime
    expires_at: datetime
    attempts: int
    deaths: int


class UndeliverableError(Exception):
    """There is nothing or nobody to send to: the delivery fails without a retry."""


class PostponedError(Exception):
    """Not now: the delivery waits until `until`, and this does not count as an attempt."""

    def __init__(self, until: datetime) -> None:
        self.until = until
        super().__init__(f"until {until}")


#: Sends a delivery and gives the provider's reference. Raises `ProviderError` or one of the two above.
Transport = Callable[[Claimed], str | None]

_rows = deliveries.c
_token = sa.bindparam("token", type_=sa.Uuid())

_due = (
    sa.select(_rows.id)
    .where(
        _rows.queue == sa.bindparam("of_queue"),
        _rows.channel == sa.bindparam("of_channel"),
        _rows.state.in_(OPEN),
        _rows.next_try_at <= sa.func.statement_timestamp(),
        _rows.expires_at > sa.func.statement_timestamp(),
    )
    .order_by(_rows.next_try_at)
    .limit(1)
    .with_for_update(skip_locked=True)
    .scalar_subquery()
)
_claim = (
    sa.update(deliveries)
    .where(_rows.id == _due)
    .values(
        state=State.CLAIMED,
        claim_token=_token,
        attempts=_rows.attempts + 1,
        # Still claimed when its lease ended: the worker before died.
        deaths=_rows.deaths + sa.case((_rows.state == State.CLAIMED, 1), else_=0),
        next_try_at=sa.func.statement_timestamp() + timedelta(seconds=LEASE_S),
    )
    .returning(*(_rows[name] for name in Claimed.__dataclass_fields__))
)

_sent = (
    sa.update(deliveries)
    .where(_rows.id == sa.bindparam("of_id"), _rows.claim_token == _token)
    .values(
        state=State.SENT,
        provider_ref=sa.bindparam("ref"),
        last_error=None,
        settled_at=sa.func.statement_timestamp(),
    )
)
_sent_and_forgotten = _sent.values(payload=sa.literal({}, JSONB))


def claim(queue: str, channel: str) -> Claimed | None:
    """Claim the longest due delivery of a channel, or None. Rows that others have locked are skipped."""
    with unit_of_work():
        row = db.session.execute(
            _claim, {"of_queue": queue, "of_channel": channel, "token": uuid.uuid4()}
        ).one_or_none()
    return None if row is None else Claimed(*row)


def settle_sent(delivery: Claimed, provider_ref: str | None) -> None:
    """Record as sent, also one that was cancelled meanwhile, so that adding it again does not send it twice."""
    parameters = {"of_id": delivery.id, "token": delivery.claim_token, "ref": provider_ref}
    with unit_of_work():
        db.session.execute(_sent_and_forgotten if settings.is_production else _sent, parameters)


def settle_failed(delivery: Claimed, reason: str) -> None:
    _settle(delivery, only_claimed=True, state=State.FAILED, last_error=reason[:500], **final())


def settle_retry(delivery: Claimed, delay_s: float, reason: str) -> None:
    """Try again after `delay_s`; a delivery that expires before is missed now."""
    at = sa.func.statement_timestamp() + timedelta(seconds=delay_s)
    in_time = at < _rows.expires_at
    _settle(
        delivery,
        only_claimed=True,
        state=sa.case((in_time, State.PENDING), else_=State.MISSED),
        next_try_at=at,
        last_error=reason[:500],
        **{name: sa.case((in_time, _rows[name]), else_=value) for name, value in final().items()},
    )


def settle_postponed(delivery: Claimed, until: datetime) -> None:
    _settle(
        delivery,
        only_claimed=True,
        state=State.PENDING,
        next_try_at=until,
        attempts=_rows.attempts - 1,
    )


def retry_delay_s(attempts: int, retry_after_s: float | None = None) -> float:
    """2^attempts seconds with jitter, at most 30 minutes; a longer `Retry-After` wins."""
    backoff = min(2.0 ** min(attempts, 20), MAX_RETRY_S)
    jittered = backoff * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, guards nothing
    return max(min(jittered, MAX_RETRY_S), retry_after_s or 0.0)


def expire(queue: str) -> int:
    """Record as missed what was not sent in time; returns how many."""
    statement = (
        sa.update(deliveries)
        .where(
            _rows.queue == queue,
            _rows.state.in_(OPEN),
            _rows.next_try_at <= sa.func.statement_timestamp(),
            _rows.expires_at <= sa.func.statement_timestamp(),
        )
        .values(state=State.MISSED, **final())
    )
    with unit_of_work():
        return int(db.session.execute(statement).rowcount)  # type: ignore[attr-defined]


def final() -> dict[str, object]:
    """The columns that settling sets. Production drops the payload: it may hold a reset code or a medicine."""
    values: dict[str, object] = {"settled_at": sa.func.statement_timestamp()}
    return {**values, "payload": sa.literal({}, JSONB)} if settings.is_production else values


def _settle(delivery: Claimed, *, only_claimed: bool = False, **values: object) -> None:
    """By id and token, so that a worker that lost its claim, or met a cancellation, changes nothing."""
    statement = (
        sa.update(deliveries).where(_rows.id == delivery.id, _rows.claim_token == delivery.claim_token).values(**values)
    )
    if only_claimed:
        statement = statement.where(_rows.state == State.CLAIMED)
    with unit_of_work():
        db.session.execute(statement)
