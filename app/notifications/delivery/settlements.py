"""Settlements: statements that record the outcome of a claimed delivery.

A claim is the right of one worker to send a delivery. If another worker has claimed the delivery since, nothing is
recorded.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.notifications.models import OPEN, Channel, DeliveryState, Receipt, deliveries

#: Number of calls with an unknown outcome after which a delivery is not sent again.
MAX_UNCONFIRMED_CALLS = 2
#: Seconds until a delivery with an unknown outcome is sent once more.
UNKNOWN_RETRY_S = 30.0
MAX_RETRY_S = 1800


@dataclass
class Claim:
    """The data that a worker needs to record an outcome. `claim_token` identifies the claim in the delivery's row."""

    id: int
    claim_token: uuid.UUID
    unconfirmed_calls: int

    def __post_init__(self) -> None:
        #: True from the start of the call to the provider, see `claims.begin`.
        self.call_started = False
        #: The content that is sent, or None before the worker has read the content.
        self.said: Mapping[str, object] | None = None


_rows = deliveries.c
token = sa.bindparam("token", type_=sa.Uuid())
#: Conditions that select the row of a claim, unless another worker has claimed the row since.
of_claim = (_rows.id == sa.bindparam("of_id", type_=sa.BigInteger), _rows.claim_token == token)
_is_message = _rows.channel == sa.literal_column(f"'{Channel.MESSAGING}'")
_ref = sa.bindparam("ref", type_=sa.Text)
#: Condition: the delivery is a message, and the provider returned a reference of the message. If the condition is true,
#: the delivery's row gets the receipt `accepted`.
_is_accepted = sa.and_(_rows.channel == Channel.MESSAGING, _ref.is_not(None))
_sending = (
    sa.update(deliveries)
    .where(*of_claim, _rows.state != DeliveryState.SENT)
    .values(
        state=DeliveryState.SENT,
        provider_ref=_ref,
        receipt=sa.case((_is_accepted, sa.literal(Receipt.ACCEPTED.value, sa.Text)), else_=_rows.receipt),
        last_error=None,
        settled_at=sa.func.statement_timestamp(),
        unconfirmed_calls=_rows.unconfirmed_calls - sa.bindparam("calls", type_=sa.Integer),
    )
)


def record_sent(delivery: Claim, provider_ref: str | None) -> None:
    """Record that the delivery was sent, even if it was cancelled during the call.

    Otherwise the state would stay `cancelled`. Such a delivery can be added again, and would then be sent twice.
    """
    calls = 1 if delivery.call_started else 0
    values = {"of_id": delivery.id, "token": delivery.claim_token, "ref": provider_ref, "calls": calls}
    # If WhatsApp may still refuse the message, `sealed` is kept until the job `prune`, for a second attempt as a
    # template. In production, `said` is not stored.
    columns: dict[str, object] = {
        "sealed": sa.case((_is_message, _rows.sealed)) if settings.follows_whatsapp_hours else sa.null()
    }
    if not settings.is_production and delivery.said is not None:
        columns["said"] = sa.literal(delivery.said, JSONB)
    db.session.execute(_sending.values(columns), values)


def record_failed(delivery: Claim, reason: str) -> None:
    _record(delivery, state=DeliveryState.FAILED, last_error=reason[:500], **final())


def record_cancelled(delivery: Claim, reason: str) -> None:
    _record(delivery, state=DeliveryState.CANCELLED, last_error=reason[:500], **final())


def record_retry(delivery: Claim, delay_s: float, reason: str) -> None:
    """Schedule a retry after `delay_s` seconds. If the delivery expires before the retry, record it as missed."""
    _record_retry(delivery, delay_s, reason, unconfirmed_calls=_known(delivery))


def record_unknown(delivery: Claim, reason: str) -> None:
    """Record an unknown outcome, and schedule one more attempt after about `UNKNOWN_RETRY_S` seconds.

    If this was already the second unknown outcome, record the delivery as failed instead.
    """
    if delivery.unconfirmed_calls >= MAX_UNCONFIRMED_CALLS:
        _record(
            delivery,
            state=DeliveryState.FAILED,
            last_error=f"outcome unknown: {reason}"[:500],
            unconfirmed_calls=_rows.unconfirmed_calls,
            **final(),
        )
        return
    delay_s = UNKNOWN_RETRY_S * random.uniform(0.75, 1.25)  # noqa: S311  # jitter, not a secret
    _record_retry(delivery, delay_s, f"outcome unknown: {reason}", unconfirmed_calls=_rows.unconfirmed_calls)


def record_postponed(delivery: Claim, until: datetime | timedelta, reason: str = "") -> None:
    """Postpone the delivery until a time, or for a duration. The postponement does not count as an attempt."""
    at = db_time.now_sql() + until if isinstance(until, timedelta) else until
    why = {"last_error": reason[:500]} if reason else {}
    _record(delivery, state=DeliveryState.PENDING, next_try_at=at, attempts=_rows.attempts - 1, **why)


def extend(delivery: Claim, until: datetime) -> None:
    """Set the expiry of a claimed delivery to `until`, unless it expires later already."""
    _record(delivery, expires_at=sa.func.greatest(_rows.expires_at, until))


def retry_delay_s(attempts: int, retry_after_s: float | None = None) -> float:
    """Return the seconds until the next attempt: 2^attempts with jitter, at most 30 minutes.

    Return `retry_after_s` instead if it is longer.
    """
    backoff = min(2.0 ** min(attempts, 20), MAX_RETRY_S)
    jittered = backoff * random.uniform(0.75, 1.25)  # noqa: S311  # jitter, not a secret
    return max(min(jittered, MAX_RETRY_S), retry_after_s or 0.0)


def expire(queue: str) -> int:
    """Record the expired deliveries of a queue as missed. Return their number."""
    statement = (
        sa.update(deliveries)
        .where(
            _rows.queue == queue,
            _rows.state.in_(OPEN),
            _rows.next_try_at <= db_time.now_sql(),
            _rows.expires_at <= db_time.now_sql(),
        )
        .values(state=DeliveryState.MISSED, **final())
    )
    return db.session.execute(statement).rowcount  # type: ignore[attr-defined,no-any-return]  # a CursorResult


def final() -> dict[str, object]:
    """Return the columns to set when a delivery gets its final state. The encrypted content is deleted."""
    return {"settled_at": sa.func.statement_timestamp(), "sealed": sa.null()}


def final_of_accepted() -> dict[str, object]:
    """Return the columns to set when the provider has accepted a message.

    For WhatsApp, the encrypted content is kept, because WhatsApp may still refuse the message. The job `prune` deletes
    the content later.
    """
    values = final()
    if settings.follows_whatsapp_hours:
        del values["sealed"]
    return values


def _record_retry(delivery: Claim, delay_s: float, reason: str, *, unconfirmed_calls: sa.ColumnElement[int]) -> None:
    at = db_time.now_sql() + timedelta(seconds=delay_s)
    in_time = at < _rows.expires_at
    _record(
        delivery,
        state=sa.case((in_time, DeliveryState.PENDING), else_=DeliveryState.MISSED),
        next_try_at=at,
        last_error=reason[:500],
        unconfirmed_calls=unconfirmed_calls,
        **{name: sa.case((in_time, _rows[name]), else_=value) for name, value in final().items()},
    )


def _known(delivery: Claim) -> sa.ColumnElement[int]:
    """Return SQL for the number of calls with an unknown outcome. Leave out the call that is recorded now."""
    return _rows.unconfirmed_calls - 1 if delivery.call_started else _rows.unconfirmed_calls + 0


def _record(delivery: Claim, **values: object) -> None:
    """Update the row of this claim, unless another worker has claimed the row since."""
    statement = (
        sa.update(deliveries)
        .where(_rows.id == delivery.id, _rows.claim_token == delivery.claim_token, _rows.state == DeliveryState.CLAIMED)
        .values({"unconfirmed_calls": _known(delivery), **values})
    )
    db.session.execute(statement)
