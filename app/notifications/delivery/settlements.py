"""Settlements: statements that record the outcome of a claimed delivery.

If another worker has claimed the delivery since, nothing is recorded.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.notifications.delivery import message_format, sealing
from app.notifications.delivery.claims import AFTER_UNKNOWN_S, MAX_UNCONFIRMED_CALLS, Claimed, of_claim
from app.notifications.models import OPEN, Channel, DeliveryState, Receipt, deliveries

MAX_RETRY_S = 1800

_rows = deliveries.c
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
        sealed=sa.bindparam("sealed", type_=sa.Text),
    )
)


def record_sent(delivery: Claimed, provider_ref: str | None) -> None:
    """Record that the delivery was sent, even if it was cancelled or put back during the call.

    In development, the text that was sent stays in `sealed`, for the page that shows the outbox.
    """
    shown = bool(delivery.words) and not settings.is_production
    values = {
        "of_id": delivery.id,
        "token": delivery.claim_token,
        "ref": provider_ref,
        "calls": 1 if delivery.call_started else 0,
        "sealed": sealing.seal(delivery.words, delivery.user_id) if shown else None,
    }
    db.session.execute(_sending, values)


def record_failed(delivery: Claimed, reason: str) -> None:
    _record(delivery, state=DeliveryState.FAILED, last_error=reason[:500], **final())


def record_cancelled(delivery: Claimed, reason: str) -> None:
    _record(delivery, state=DeliveryState.CANCELLED, last_error=reason[:500], **final())


def record_retry(delivery: Claimed, delay_s: float, reason: str) -> None:
    """Schedule a retry after `delay_s` seconds. If the delivery expires before the retry, record it as missed."""
    _record_retry(delivery, delay_s, reason)


def record_unknown(delivery: Claimed, reason: str) -> None:
    """Record an unknown outcome, and schedule one more attempt after about `AFTER_UNKNOWN_S` seconds.

    If this was already the second unknown outcome, record the delivery as failed instead.
    """
    reason, stays = f"outcome unknown: {reason}", {"unconfirmed_calls": _rows.unconfirmed_calls}
    if delivery.unconfirmed_calls >= MAX_UNCONFIRMED_CALLS:
        _record(delivery, state=DeliveryState.FAILED, last_error=reason[:500], **stays, **final())
    else:
        _record_retry(delivery, AFTER_UNKNOWN_S * random.uniform(0.75, 1.25), reason, **stays)  # noqa: S311  # jitter


def record_as_template(delivery: Claimed) -> None:
    """Send the delivery again at once, as a template, because WhatsApp has refused its free text."""
    _record(delivery, attempts=_rows.attempts - 1, **as_template())


def record_postponed(delivery: Claimed, until: datetime | timedelta, reason: str = "") -> None:
    """Postpone the delivery until a time, or for a duration. The postponement does not count as an attempt."""
    at = db_time.now_sql() + until if isinstance(until, timedelta) else until
    why = {"last_error": reason[:500]} if reason else {}
    _record(delivery, state=DeliveryState.PENDING, next_try_at=at, attempts=_rows.attempts - 1, **why)


def extend(delivery: Claimed, until: datetime) -> None:
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


def as_template() -> dict[str, object]:
    """Return the columns to set when a delivery is sent again as a template. This happens once to a delivery."""
    return {
        "state": DeliveryState.PENDING,
        "payload": _rows.payload + sa.literal({message_format.AS_TEMPLATE: True}, JSONB),
        "next_try_at": sa.func.statement_timestamp(),
    }


def _record_retry(delivery: Claimed, delay_s: float, reason: str, **values: object) -> None:
    at = db_time.now_sql() + timedelta(seconds=delay_s)
    in_time = at < _rows.expires_at
    _record(
        delivery,
        state=sa.case((in_time, DeliveryState.PENDING), else_=DeliveryState.MISSED),
        next_try_at=at,
        last_error=reason[:500],
        **{name: sa.case((in_time, _rows[name]), else_=value) for name, value in final().items()},
        **values,
    )


def _record(delivery: Claimed, **values: object) -> None:
    """Update the row of this claim, unless another worker has claimed the row since.

    Take the call off `unconfirmed_calls`, unless `values` has the column.
    """
    known = _rows.unconfirmed_calls - (1 if delivery.call_started else 0)
    statement = (
        sa.update(deliveries)
        .where(_rows.id == delivery.id, _rows.claim_token == delivery.claim_token, _rows.state == DeliveryState.CLAIMED)
        .values({"unconfirmed_calls": known, **values})
    )
    db.session.execute(statement)
