"""Claims: a delivery is claimed in one statement, sent in no transaction, settled in another, see `settlements`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit
from app.core.jobs import clock_jump
from app.core.settings import settings
from app.identity.notification_settings import Wishes, wishes_of
from app.notifications.delivery import groups
from app.notifications.delivery.sealing import Words
from app.notifications.delivery.settlements import MAX_RETRY_S, Claim, of_claim, token
from app.notifications.models import About, Channel, State, deliveries

#: Seconds of a claim's lease; longer than every provider's time budget. A dead worker's row waits for its end.
LEASE_S = 30
#: Seconds of the lease that a call must have before it; twice the longest budget of a provider, and some.
CALL_S = 20
#: A row over which so many workers died is tried alone: it may be what kills them.
POISON_DEATHS = 3


@dataclass
class Claimed(Claim):
    """A delivery that only this worker may send now, and the others of its message, see `groups`."""

    dedupe_key: str
    queue: str
    channel: str
    kind: str
    about_type: str | None
    about_id: int | None
    user_id: int | None
    occurrence_id: int | None
    target: str | None
    payload: Mapping[str, object]
    sealed: str | None
    due_at: datetime
    expires_at: datetime
    attempts: int
    deaths: int
    #: How the person wants to be reached, as of the claim.
    wishes = Wishes()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.others: tuple[Claimed, ...] = ()
        #: What it says now, see `rendering`.
        self.words: Words = {}

    @property
    def about(self) -> About | None:
        """What it tells of."""
        return None if self.about_type is None or self.about_id is None else About(self.about_type, self.about_id)

    @property
    def together(self) -> list[Claimed]:
        """What one message tells of: what was claimed at once, without what says nothing any more or does not fit."""
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

#: How often a worker died over a row, the one that let its lease end included.
_deaths = _rows.deaths + sa.case((_rows.state == State.CLAIMED, 1), else_=0)


def _interval(seconds: sa.ColumnElement[float] | float) -> sa.ColumnElement[timedelta]:
    return sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds, type_=sa.Interval)


_lease_s = sa.literal(float(LEASE_S))
#: The later of the two times: a lease must not look over to the workers of a machine whose clock did not jump.
_lease_start = sa.func.greatest(clock_jump.now_sql, sa.func.statement_timestamp())


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
            _rows.next_try_at <= clock_jump.now_sql,
            _rows.expires_at > clock_jump.now_sql,
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
            claim_token=token,
            attempts=_rows.attempts + 1,
            deaths=_deaths,
            next_try_at=_lease_start + _interval(lease_s),
        )
        .returning(*(_rows[name] for name in Claimed.__dataclass_fields__), wishes_of(_rows.user_id))
    )


#: What fell due so recently is fresh, however many wait from before.
FRESH_S = 30
_fresh_since = clock_jump.now_sql - _interval(FRESH_S)

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
_begin = PreparedStatement(
    sa.update(deliveries)
    .where(*of_claim, _rows.state == State.CLAIMED, _rows.expires_at > clock_jump.now_sql)
    .values(
        unknowns=_rows.unknowns + 1,
        # Only where little of the lease is left: an update that touches no index is cheap.
        next_try_at=sa.case(
            (_rows.next_try_at < _lease_start + _interval(CALL_S), _lease_start + _interval(_lease_s)),
            else_=_rows.next_try_at,
        ),
    )
    .returning(_rows.id, _rows.unknowns)
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
    values = {"of_queue": queue, "of_channel": channel, "token": uuid.uuid4(), **clock_jump.values()}
    with autocommit() as connection:
        rows = statement.rows(connection, values)
    if not rows:
        return None
    first, *others = sorted(map(_of_row, rows), key=lambda each: (each.due_at, each.id))
    first.others = tuple(others)
    first.ids = tuple(each.id for each in (first, *first.others))
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
    values = {"of_ids": list(delivery.ids), "token": delivery.claim_token, **clock_jump.values()}
    with autocommit() as connection:
        rows = _begin.rows(connection, values)
    if not rows:
        raise ClaimLostError
    delivery.is_begun, delivery.unknowns = True, rows[0][1]
    delivery.ids = tuple(row[0] for row in rows)
