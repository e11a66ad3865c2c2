"""Settlements: what became of a claimed delivery is recorded in one statement, by whoever still holds its claim."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit
from app.core.jobs import clock_jump
from app.core.settings import settings
from app.notifications.models import OPEN, Channel, Receipt, State, deliveries

#: A delivery whose outcome is unknown so often is not sent again.
MOST_UNKNOWN = 2
#: Seconds until a delivery whose outcome is unknown is repeated: the one time that it is, the provider should be back.
UNKNOWN_RETRY_S = 30.0
MAX_RETRY_S = 1800


@dataclass
class Claim:
    """What it takes to settle a delivery: only the worker whose token the row holds may."""

    id: int
    claim_token: uuid.UUID
    unknowns: int

    def __post_init__(self) -> None:
        #: Whether the provider may have been called, see `begin`.
        self.is_begun = False
        #: What leaves, as far as it is known.
        self.said: Mapping[str, object] | None = None
        #: The rows that the outcome is recorded for: itself, and what leaves in the same message.
        self.ids: tuple[int, ...] = (self.id,)


_rows = deliveries.c
token = sa.bindparam("token", type_=sa.Uuid())
#: The rows of a claim that nobody else has claimed since.
of_claim = (
    _rows.id == sa.func.any(sa.bindparam("of_ids", type_=ARRAY(sa.BigInteger))),
    _rows.claim_token == token,
)
_is_message = _rows.channel == sa.literal_column(f"'{Channel.MESSAGING}'")
_ref = sa.bindparam("ref", type_=sa.Text)
#: A message that the provider named is accepted: the first of its receipts.
_is_accepted = sa.and_(_rows.channel == Channel.MESSAGING, _ref.is_not(None))
_sending = (
    sa.update(deliveries)
    .where(*of_claim, _rows.state != State.SENT)
    .values(
        state=State.SENT,
        provider_ref=_ref,
        receipt=sa.case((_is_accepted, sa.literal(Receipt.ACCEPTED.value, sa.Text)), else_=_rows.receipt),
        last_error=None,
        settled_at=sa.func.statement_timestamp(),
        unknowns=_rows.unknowns - sa.bindparam("calls", type_=sa.Integer),
    )
)
_said = sa.bindparam("said", type_=JSONB)
#: By whether this is production, which keeps nothing of what was said; and whether WhatsApp may refuse it a moment
#: later, and then take it as a template. What was sealed is kept for that until `jobs.prune`.
_sent = {
    (is_production, is_refusable): PreparedStatement(
        _sending.values(
            **({} if is_production else {"said": _said}),
            sealed=sa.case((_is_message, _rows.sealed)) if is_refusable else sa.null(),
        ).returning(_rows.id)
    )
    for is_production in (True, False)
    for is_refusable in (True, False)
}


def settle_sent(delivery: Claim, provider_ref: str | None) -> None:
    """Record as sent, also one that was cancelled meanwhile, so that adding it again does not send it twice."""
    calls = 1 if delivery.is_begun else 0
    values = {"of_ids": list(delivery.ids), "token": delivery.claim_token, "ref": provider_ref, "calls": calls}
    said = orjson.dumps(delivery.said).decode() if delivery.said is not None else None
    statement = _sent[settings.is_production, settings.follows_whatsapp_hours]
    with autocommit() as connection:
        statement.rows(connection, {**values, "said": said})


def settle_failed(delivery: Claim, reason: str) -> None:
    _settle(delivery, state=State.FAILED, last_error=reason[:500], **final())


def settle_cancelled(delivery: Claim, reason: str) -> None:
    _settle(delivery, state=State.CANCELLED, last_error=reason[:500], **final())


def settle_retry(delivery: Claim, delay_s: float, reason: str) -> None:
    """Try again after `delay_s`; a delivery that expires before is missed now."""
    _settle_retry(delivery, delay_s, reason, unknowns=_known(delivery))


def settle_unknown(delivery: Claim, reason: str) -> None:
    """The provider may have sent it: it is repeated once, after `UNKNOWN_RETRY_S` and a quarter more or less."""
    if delivery.unknowns >= MOST_UNKNOWN:
        _settle(
            delivery,
            state=State.FAILED,
            last_error=f"outcome unknown: {reason}"[:500],
            unknowns=_rows.unknowns,
            **final(),
        )
        return
    delay_s = UNKNOWN_RETRY_S * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, guards nothing
    _settle_retry(delivery, delay_s, f"outcome unknown: {reason}", unknowns=_rows.unknowns)


def settle_postponed(delivery: Claim, until: datetime | timedelta, reason: str = "") -> None:
    """Wait until a moment, or for so long; that was no attempt."""
    at = clock_jump.now_sql + until if isinstance(until, timedelta) else until
    why = {"last_error": reason[:500]} if reason else {}
    _settle(delivery, state=State.PENDING, next_try_at=at, attempts=_rows.attempts - 1, **why)


def extend(delivery: Claim, until: datetime) -> None:
    """Let a claimed delivery expire at `until`, or later if it does already."""
    _settle(delivery, expires_at=sa.func.greatest(_rows.expires_at, until))


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
            _rows.next_try_at <= clock_jump.now_sql,
            _rows.expires_at <= clock_jump.now_sql,
        )
        .values(state=State.MISSED, **final())
    )
    with autocommit() as connection:
        return connection.execute(statement, clock_jump.values()).rowcount


def final() -> dict[str, object]:
    """The columns that settling sets. Words that exist only once are dropped."""
    return {"settled_at": sa.func.statement_timestamp(), "sealed": sa.null()}


def final_of_accepted() -> dict[str, object]:
    """As `final`, of a message that the provider has: what WhatsApp may yet refuse keeps its words until `prune`."""
    values = final()
    if settings.follows_whatsapp_hours:
        del values["sealed"]
    return values


def _settle_retry(delivery: Claim, delay_s: float, reason: str, *, unknowns: sa.ColumnElement[int]) -> None:
    at = clock_jump.now_sql + timedelta(seconds=delay_s)
    in_time = at < _rows.expires_at
    _settle(
        delivery,
        state=sa.case((in_time, State.PENDING), else_=State.MISSED),
        next_try_at=at,
        last_error=reason[:500],
        unknowns=unknowns,
        **{name: sa.case((in_time, _rows[name]), else_=value) for name, value in final().items()},
    )


def _known(delivery: Claim) -> sa.ColumnElement[int]:
    """The count of unknown outcomes without the present call, which is known."""
    return _rows.unknowns - 1 if delivery.is_begun else _rows.unknowns + 0


def _settle(delivery: Claim, **values: object) -> None:
    """By id and token, so that a worker that lost its claim, or met a cancellation, changes nothing."""
    statement = (
        sa.update(deliveries)
        .where(_rows.id.in_(delivery.ids), _rows.claim_token == delivery.claim_token, _rows.state == State.CLAIMED)
        .values({"unknowns": _known(delivery), **values})
    )
    with autocommit() as connection:
        connection.execute(statement, clock_jump.values())
