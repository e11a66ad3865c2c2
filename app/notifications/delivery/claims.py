"""Claims: a worker claims a delivery before it sends the delivery, so that no other worker sends it.

A claim has a lease (a time limit). If the worker dies, the lease ends, and the next drain puts the delivery back.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.identity.notification_settings import DeliveryPreferences, delivery_preferences_of
from app.notifications.delivery.sealing import Words
from app.notifications.models import DeliveryState, deliveries

#: Duration of a lease in seconds. A lease is longer than the time limit of any call to a provider.
LEASE_S = 15
#: Minimum number of seconds that the lease still lasts when a call to a provider starts. The longest call takes 8 s.
CALL_S = 12
#: Seconds until a delivery is sent once more, if its worker died during the call to the provider.
AFTER_UNKNOWN_S = 30.0
#: Number of calls with an unknown outcome after which a delivery is not sent again.
MAX_UNCONFIRMED_CALLS = 2
#: Minimum seconds until a delivery is sent, if its worker died before the call. Each further death doubles the time.
#: Up to a half is added at random, so that a delivery that kills its workers does not take the same others with it.
AFTER_DEATH_S = 10.0
#: Number of dead workers after which a delivery is not sent again.
MAX_DEATHS = 5


@dataclass
class Claimed:
    """A delivery that only this worker may send now. `claim_token` identifies the claim in the delivery's row."""

    id: int
    claim_token: uuid.UUID
    unconfirmed_calls: int
    dedupe_key: str
    queue: str
    channel: str
    kind: str
    user_id: int | None
    target: str | None
    payload: Mapping[str, object]
    sealed: str | None
    #: Ids of the occurrences that the last call named.
    said: Sequence[int] | None
    due_at: datetime
    expires_at: datetime
    attempts: int
    #: The person's delivery preferences at the time of the claim.
    preferences = DeliveryPreferences()

    def __post_init__(self) -> None:
        #: True from the start of the call to the provider, see `begin`.
        self.call_started = False
        #: The text or the push fields to send, see `rendering`. Empty before the worker has read them.
        self.words: Words = {}

    @property
    def about_type(self) -> object:
        return self.payload.get("about")

    @property
    def about_id(self) -> int | None:
        """Return the id of the object that the delivery is about."""
        id_ = self.payload.get("about_id")
        return id_ if isinstance(id_, int) else None


class UndeliverableError(Exception):
    """The delivery has no recipient or no content. The delivery fails without a retry."""


class UnwantedError(Exception):
    """The recipient does not want this delivery, or a rule forbids it. The delivery is cancelled."""


class PostponedError(Exception):
    """The delivery waits until the time `until`. The postponement does not count as an attempt."""

    def __init__(self, until: datetime) -> None:
        self.until = until
        super().__init__(f"until {until}")


class ClaimLostError(Exception):
    """Another worker has claimed the delivery, or the delivery was cancelled. This worker must not send it."""


_rows = deliveries.c
_now = db_time.now_sql()


def seconds(count: sa.ColumnElement[float] | float) -> sa.ColumnElement[timedelta]:
    return sa.func.make_interval(0, 0, 0, 0, 0, 0, count, type_=sa.Interval)


_newest_due = (
    sa.select(_rows.id)
    .where(
        _rows.queue == sa.bindparam("of_queue"),
        _rows.channel == sa.bindparam("of_channel"),
        # same text as in the index `ix_deliveries_open`, so that PostgreSQL uses the index
        sa.literal_column("state IN ('pending', 'claimed')"),
        _rows.state == DeliveryState.PENDING,
        _rows.next_try_at <= _now,
        _rows.expires_at > _now,
    )
    .order_by(_rows.next_try_at.desc())
    .limit(1)
    .with_for_update(skip_locked=True)
    .cte("newest_due")
)
_columns = (*(_rows[name] for name in Claimed.__dataclass_fields__), delivery_preferences_of(_rows.user_id))
_claim = (
    sa.update(deliveries)
    .where(_rows.id == _newest_due.c.id)
    .values(
        state=DeliveryState.CLAIMED,
        claim_token=sa.bindparam("token", type_=sa.Uuid()),
        attempts=_rows.attempts + 1,
        next_try_at=_now + seconds(LEASE_S),
    )
    .returning(*_columns)
)
#: Conditions that select the row of a claim, unless another worker has claimed the row since.
of_claim = (
    _rows.id == sa.bindparam("of_id", type_=sa.BigInteger),
    _rows.claim_token == sa.bindparam("token", type_=sa.Uuid()),
)
_begin = (
    sa.update(deliveries)
    .where(*of_claim, _rows.state == DeliveryState.CLAIMED, _rows.expires_at > _now)
    .values(
        unconfirmed_calls=_rows.unconfirmed_calls + 1,
        said=sa.bindparam("says", type_=ARRAY(sa.BigInteger)),
        link_hash=sa.bindparam("by_link", type_=sa.Text),
        # Extend the lease only if little time is left. An update of `next_try_at` is costly, as it is indexed.
        next_try_at=sa.case(
            (_rows.next_try_at < _now + seconds(CALL_S), _now + seconds(LEASE_S)), else_=_rows.next_try_at
        ),
    )
    .returning(_rows.unconfirmed_calls)
)


def claim(queue: str, channel: str) -> Claimed | None:
    """Claim the delivery of a channel that became due last, or return None if none is due. Skip locked rows.

    The newest is first, so that what falls due now never waits behind a backlog.
    """
    with unit_of_work():
        row = db.session.execute(
            _claim, {"token": uuid.uuid4(), "of_queue": queue, "of_channel": channel}
        ).one_or_none()
    if row is None:
        return None
    *columns, preferences = row
    claimed = Claimed(*columns)
    if preferences is not None:
        claimed.preferences = DeliveryPreferences(*preferences)
    return claimed


def begin(delivery: Claimed) -> None:
    """Record that the call to the provider starts now, and what it says. Extend the lease if it is short.

    From now until an outcome is recorded, the outcome counts as unknown. A worker that dies in this time may have sent
    the delivery. Raise `ClaimLostError` if the delivery was cancelled or put back since the claim.
    """
    with unit_of_work():
        unconfirmed_calls = db.session.scalar(
            _begin,
            {
                "of_id": delivery.id,
                "token": delivery.claim_token,
                "says": delivery.words.get("said"),
                "by_link": delivery.words.get("link_hash"),
            },
        )
    if unconfirmed_calls is None:
        raise ClaimLostError
    delivery.call_started, delivery.unconfirmed_calls = True, unconfirmed_calls


_abandoned = (
    sa.select(_rows.id)
    .where(_rows.queue == sa.bindparam("of_queue"), _rows.state == DeliveryState.CLAIMED, _rows.next_try_at <= _now)
    .with_for_update(skip_locked=True)
    .cte("abandoned")
)
_is_unknown = _rows.unconfirmed_calls > 0
_is_over = sa.or_(_rows.unconfirmed_calls >= MAX_UNCONFIRMED_CALLS, _rows.worker_crashes >= MAX_DEATHS - 1)
_put_back = (
    sa.update(deliveries)
    .where(_rows.id == _abandoned.c.id)
    .values(
        state=sa.case((_is_over, DeliveryState.FAILED), else_=DeliveryState.PENDING),
        worker_crashes=_rows.worker_crashes + 1,
        next_try_at=_now
        + seconds(
            sa.func.greatest(
                AFTER_DEATH_S
                * sa.func.power(2, _rows.worker_crashes, type_=sa.Float)
                * (1 + sa.func.random(type_=sa.Float) / 2),
                sa.case((_is_unknown, AFTER_UNKNOWN_S), else_=0.0),
                type_=sa.Float,
            )
        ),
        last_error=sa.case((_is_unknown, "outcome unknown: its worker died"), else_="its worker died"),
        settled_at=sa.case((_is_over, _now)),
        sealed=sa.case((~_is_over, _rows.sealed)),
    )
)


def put_back(queue: str) -> int:
    """Put the deliveries of a queue back whose workers died. Return their number.

    A worker that died during the call may have sent the delivery, so the delivery is repeated once and then fails. A
    delivery that kills each worker before the call fails at the fifth death. The claim token stays: a worker that was
    only frozen can still record that it sent the delivery, until the next claim.
    """
    return db.session.execute(_put_back, {"of_queue": queue}).rowcount  # type: ignore[attr-defined,no-any-return]
