"""Claims: a delivery is claimed in one statement, sent in no transaction, settled in another statement."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit
from app.core.settings import settings
from app.identity.notification_settings import Wishes, wishes_of
from app.notifications.delivery import clock_steps, groups
from app.notifications.models import OPEN, Channel, Receipt, State, deliveries

#: Seconds of a claim's lease; longer than every provider's time budget. A dead worker's row waits for its end.
LEASE_S = 30
#: Seconds of the lease that a call must have before it; twice the longest budget of a provider, and some.
CALL_S = 20
#: A row over which so many workers died is tried alone: it may be what kills them.
POISON_DEATHS = 3
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
        #: The rows that the outcome is recorded for: itself, and what leaves in the same message.
        self.ids: tuple[int, ...] = (self.id,)


@dataclass
class Claimed(Claim):
    """A delivery that only this worker may send now, and the others of its message, see `groups`."""

    dedupe_key: str
    queue: str
    kind: str
    subject: str | None
    user_id: int | None
    occurrence_id: int | None
    target: str | None
    payload: Mapping[str, object]
    due_at: datetime
    expires_at: datetime
    attempts: int
    deaths: int
    #: How the person wants to be reached, as of the claim.
    wishes = Wishes()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.others: tuple[Claimed, ...] = ()

    @property
    def together(self) -> list[Claimed]:
        """What one message tells of: all that were claimed at once, but for what was cancelled before `begin`."""
        return [each for each in (self, *self.others) if each.id in self.ids]


class UndeliverableError(Exception):
    """There is nothing or nobody to send to: the delivery fails without a retry."""


class UnwantedError(Exception):
    """The person wants nothing by this channel: the delivery is cancelled."""


class PostponedError(Exception):
    """Not now: the delivery waits until `until`, and this does not count as an attempt."""

    def __init__(self, until: datetime) -> None:
        self.until = until
        super().__init__(f"until {until}")


class ClaimLostError(Exception):
    """Another worker has the delivery now, or it was cancelled: it is not sent."""


_rows = deliveries.c
_token = sa.bindparam("token", type_=sa.Uuid())

#: How often a worker died over a row, the one that let its lease end included.
_deaths = _rows.deaths + sa.case((_rows.state == State.CLAIMED, 1), else_=0)


def _interval(seconds: sa.ColumnElement[float] | float) -> sa.ColumnElement[timedelta]:
    return sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds, type_=sa.Interval)


_lease_s = sa.literal(float(LEASE_S))


def _claiming(
    *which: sa.ColumnElement[bool], lease_s: sa.ColumnElement[float] = _lease_s, grouped: bool = False
) -> PreparedStatement:
    """The statement that claims the longest due row of a channel among those; `grouped`: with its whole message."""
    due = (
        sa.select(_rows.id)
        .where(
            _rows.queue == sa.bindparam("of_queue"),
            _rows.channel == sa.bindparam("of_channel"),
            sa.literal_column("state IN ('pending', 'claimed')"),  # as the index of open rows says
            _rows.next_try_at <= sa.func.statement_timestamp(),
            _rows.expires_at > sa.func.statement_timestamp(),
            clock_steps.is_trusted,
            *which,
        )
        .order_by(_rows.next_try_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    return PreparedStatement(
        sa.update(deliveries)
        .where(_rows.id.in_(groups.whole(due)) if grouped else _rows.id == due.scalar_subquery())
        .values(
            state=State.CLAIMED,
            claim_token=_token,
            attempts=_rows.attempts + 1,
            deaths=_deaths,
            next_try_at=sa.func.statement_timestamp() + _interval(lease_s),
        )
        .returning(*(_rows[name] for name in Claimed.__dataclass_fields__), wishes_of(_rows.user_id))
    )


#: What fell due so recently is fresh, however many wait from before.
FRESH_S = 30
_fresh_since = sa.func.statement_timestamp() - _interval(FRESH_S)

#: Rows that are tried alone.
is_alone = _deaths >= POISON_DEATHS
_is_pending = (~is_alone, _rows.state == State.PENDING)
_is_fresh = (*_is_pending, _rows.next_try_at > _fresh_since, _rows.due_at > _fresh_since)
_is_abandoned = (~is_alone, _rows.state == State.CLAIMED)
_claim = _claiming(~is_alone)
_claim_pending = _claiming(*_is_pending)
_claim_fresh = _claiming(*_is_fresh)
_claim_abandoned = _claiming(*_is_abandoned)
#: The same of a row and what leaves in the same message.
_of_groups = {
    _claim: _claiming(~is_alone, grouped=True),
    _claim_pending: _claiming(*_is_pending, grouped=True),
    _claim_fresh: _claiming(*_is_fresh, grouped=True),
    _claim_abandoned: _claiming(*_is_abandoned, grouped=True),
}
#: Twice as long after each death from the third on.
_claim_alone = _claiming(
    is_alone,
    lease_s=sa.func.least(_lease_s * sa.func.power(2, _deaths - POISON_DEATHS + 1), MAX_RETRY_S),
)
_of_claim = (
    _rows.id == sa.func.any(sa.bindparam("of_ids", type_=ARRAY(sa.BigInteger))),
    _rows.claim_token == _token,
)
_begin = PreparedStatement(
    sa.update(deliveries)
    .where(*_of_claim, _rows.state == State.CLAIMED, _rows.expires_at > clock_steps.now)
    .values(
        unknowns=_rows.unknowns + 1,
        # Only where little of the lease is left: an update that touches no index is cheap.
        next_try_at=sa.case(
            (_rows.next_try_at < clock_steps.now + _interval(CALL_S), clock_steps.now + _interval(_lease_s)),
            else_=_rows.next_try_at,
        ),
    )
    .returning(_rows.id, _rows.unknowns)
)
_ref = sa.bindparam("ref", type_=sa.Text)
#: A message that the provider named is accepted: the first of its receipts.
_is_accepted = sa.and_(_rows.channel == Channel.MESSAGING, _ref.is_not(None))
_sending = (
    sa.update(deliveries)
    .where(*_of_claim, _rows.state != State.SENT)
    .values(
        state=State.SENT,
        provider_ref=_ref,
        receipt=sa.case((_is_accepted, sa.literal(Receipt.ACCEPTED.value, sa.Text)), else_=_rows.receipt),
        last_error=None,
        settled_at=sa.func.statement_timestamp(),
        unknowns=_rows.unknowns - sa.bindparam("calls", type_=sa.Integer),
    )
)
_sent = PreparedStatement(_sending.returning(_rows.id))
_nothing: sa.ColumnElement[dict[str, object]] = sa.literal_column("'{}'::jsonb", JSONB)
_sent_and_forgotten = PreparedStatement(_sending.values(payload=_nothing).returning(_rows.id))
_is_message = _rows.channel == sa.literal_column(f"'{Channel.MESSAGING}'")
#: What WhatsApp may refuse a moment later, and then takes as a template, is kept until `jobs.forget_payloads`.
_sent_and_nearly_forgotten = PreparedStatement(
    _sending.values(payload=sa.case((_is_message, _rows.payload), else_=_nothing)).returning(_rows.id)
)


def claim(queue: str, channel: str) -> Claimed | None:
    """Claim the longest due delivery of a channel, or None. Rows that others have locked are skipped."""
    return _claimed(_claim, queue, channel)


def claim_pending(queue: str, channel: str) -> Claimed | None:
    """Like `claim`, among those that nobody has claimed."""
    return _claimed(_claim_pending, queue, channel)


def claim_abandoned(queue: str, channel: str) -> Claimed | None:
    """Like `claim`, among those whose worker let its lease end."""
    return _claimed(_claim_abandoned, queue, channel)


def claim_fresh(queue: str, channel: str) -> Claimed | None:
    """Like `claim_pending`, among what has fallen due within the last 30 s."""
    return _claimed(_claim_fresh, queue, channel)


def claim_alone(queue: str, channel: str) -> Claimed | None:
    """Claim a delivery over which several workers died; should this one die too, it waits twice as long."""
    return _claimed(_claim_alone, queue, channel)


def _claimed(statement: PreparedStatement, queue: str, channel: str) -> Claimed | None:
    if settings.reminder_grouping and channel == Channel.MESSAGING:
        statement = _of_groups.get(statement, statement)
    values = {"of_queue": queue, "of_channel": channel, "token": uuid.uuid4(), **clock_steps.trusted()}
    with autocommit() as connection:
        rows = statement.rows(connection, values)
    if not rows:
        return None
    first, *others = sorted(map(_of_row, rows), key=lambda each: (each.due_at, each.id))
    fitting = groups.fitting([first.payload, *(each.payload for each in others)]) - 1
    first.others, rest = tuple(others[:fitting]), others[fitting:]
    first.ids = tuple(each.id for each in (first, *first.others))
    if rest:
        rest[0].ids = tuple(each.id for each in rest)
        settle_postponed(rest[0], timedelta())  # to a message of their own
    return first


def _of_row(row: tuple[Any, ...]) -> Claimed:
    *columns, wishes = row
    claimed = Claimed(*columns)
    if wishes is not None:
        claimed.wishes = Wishes(*wishes)
    return claimed


def begin(delivery: Claimed) -> None:
    """Note that the provider is called now, with time enough left in the lease.

    Until the outcome is settled it counts as unknown: a worker that dies from here on may have sent the delivery. Of a
    message of several, what was cancelled since it was claimed is left out. Raises `ClaimLostError` when none is left.
    """
    values = {"of_ids": list(delivery.ids), "token": delivery.claim_token, **clock_steps.trusted()}
    with autocommit() as connection:
        rows = _begin.rows(connection, values)
    if not rows:
        raise ClaimLostError
    delivery.is_begun, delivery.unknowns = True, rows[0][1]
    delivery.ids = tuple(row[0] for row in rows)


def settle_sent(delivery: Claim, provider_ref: str | None) -> None:
    """Record as sent, also one that was cancelled meanwhile, so that adding it again does not send it twice."""
    calls = 1 if delivery.is_begun else 0
    values = {"of_ids": list(delivery.ids), "token": delivery.claim_token, "ref": provider_ref, "calls": calls}
    with autocommit() as connection:
        _settling().rows(connection, values)


def _settling() -> PreparedStatement:
    """The statement that records as sent; production drops the payload, see `final`."""
    if not settings.is_production:
        return _sent
    return _sent_and_nearly_forgotten if settings.follows_whatsapp_hours else _sent_and_forgotten


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
    at = clock_steps.now + until if isinstance(until, timedelta) else until
    why = {"last_error": reason[:500]} if reason else {}
    _settle(delivery, state=State.PENDING, next_try_at=at, attempts=_rows.attempts - 1, **why)


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
            clock_steps.is_trusted,
        )
        .values(state=State.MISSED, **final())
    )
    with autocommit() as connection:
        return connection.execute(statement, clock_steps.trusted()).rowcount


def final() -> dict[str, object]:
    """The columns that settling sets. Production drops the payload: it may hold a reset code or a medicine."""
    values: dict[str, object] = {"settled_at": sa.func.statement_timestamp()}
    return {**values, "payload": sa.literal({}, JSONB)} if settings.is_production else values


def _settle_retry(delivery: Claim, delay_s: float, reason: str, *, unknowns: sa.ColumnElement[int]) -> None:
    at = clock_steps.now + timedelta(seconds=delay_s)
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
        connection.execute(statement, clock_steps.trusted())
