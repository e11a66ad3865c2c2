"""Claims: a worker claims a delivery before it sends the delivery, so that no other worker sends it.

A claim has a lease (a time limit). If the worker dies, the lease expires, and the delivery is then a suspect. A suspect
is sent alone, because the attempt to send it may have killed the worker.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.identity.notification_settings import DeliveryPreferences, delivery_preferences_of
from app.notifications.delivery.sealing import Words
from app.notifications.delivery.settlements import MAX_RETRY_S, Claim, of_claim, token
from app.notifications.models import About, DeliveryState, deliveries

#: Duration of a lease in seconds. A lease is longer than the time limit of any call to a provider. After a worker has
#: died, its deliveries wait until the lease expires.
LEASE_S = 30
#: Minimum number of seconds that the lease still lasts when a call to a provider starts. The number is more than twice
#: the longest time limit of such a call.
CALL_S = 20
#: From this number of workers that died while they sent a delivery, each death doubles the duration of its lease.
POISON_CRASHES = 3


@dataclass
class Claimed(Claim):
    """A delivery that only this worker may send now."""

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
    worker_crashes: int
    #: The person's delivery preferences at the time of the claim.
    preferences = DeliveryPreferences()

    def __post_init__(self) -> None:
        super().__post_init__()
        #: The text or the push fields to send, see `rendering`.
        self.words: Words = {}

    @property
    def about(self) -> About | None:
        return None if self.about_type is None or self.about_id is None else About(self.about_type, self.about_id)


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

#: Condition: a due row is a suspect, because its worker died. The index `ix_deliveries_suspects` has this condition.
is_suspect = sa.or_(_rows.state == DeliveryState.CLAIMED, _rows.worker_crashes > 0)
#: A delivery counts as newly due until this number of seconds after its due time.
NEW_S = 30


def _interval(seconds: sa.ColumnElement[float] | float) -> sa.ColumnElement[timedelta]:
    return sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds, type_=sa.Interval)


_now = db_time.now_sql()
_new_since = _now - _interval(NEW_S)
#: SQL for the number of workers that died while they sent a due row. A due row that is still claimed counts one more.
_worker_crashes = _rows.worker_crashes + sa.case((_rows.state == DeliveryState.CLAIMED, 1), else_=0)
#: SQL for the duration of the lease in seconds. The duration is `LEASE_S` until `POISON_CRASHES` workers have died.
#: From this number on, each death doubles the duration, up to `MAX_RETRY_S`.
_lease_s = sa.func.least(
    LEASE_S * sa.func.power(2, sa.func.greatest(_worker_crashes - POISON_CRASHES + 1, 0), type_=sa.Float), MAX_RETRY_S
)
_claiming = sa.update(deliveries).values(
    state=DeliveryState.CLAIMED, claim_token=token, attempts=_rows.attempts + 1, worker_crashes=_worker_crashes
)


def _first_of(*which: sa.ColumnElement[bool]) -> sa.UpdateBase:
    """Return the statement that claims one due row of a channel: the row that has been due longest."""
    due = (
        sa.select(_rows.id)
        .where(
            _rows.queue == sa.bindparam("of_queue"),
            _rows.channel == sa.bindparam("of_channel"),
            # same text as in the index `ix_deliveries_open`, so that PostgreSQL uses the index
            sa.literal_column("state IN ('pending', 'claimed')"),
            _rows.next_try_at <= _now,
            _rows.expires_at > _now,
            *which,
        )
        .order_by(_rows.next_try_at)
        .limit(1)
        .with_for_update(skip_locked=True)
        .cte("due")
    )
    return _claiming.where(_rows.id == due.c.id).values(next_try_at=_now + _interval(_lease_s)).returning(*_columns)


_columns = (*(_rows[name] for name in Claimed.__dataclass_fields__), delivery_preferences_of(_rows.user_id))
#: Each statement claims the row that has been due longest. `OLDEST` chooses among all rows that are not suspects.
#: `NEWEST` chooses among the newly due rows that are not suspects. `SUSPECTS` chooses among the suspects.
OLDEST = _first_of(~is_suspect)
NEWEST = _first_of(~is_suspect, _rows.next_try_at > _new_since, _rows.due_at > _new_since)
SUSPECTS = _first_of(is_suspect)
_begin = (
    sa.update(deliveries)
    .where(*of_claim, _rows.state == DeliveryState.CLAIMED, _rows.expires_at > _now)
    .values(
        unconfirmed_calls=_rows.unconfirmed_calls + 1,
        # Extend the lease only if little time is left. An update of `next_try_at` is costly, as it is indexed.
        next_try_at=sa.case(
            (_rows.next_try_at < _now + _interval(CALL_S), _now + _interval(LEASE_S)),
            else_=_rows.next_try_at,
        ),
    )
    .returning(_rows.unconfirmed_calls)
)


def claim(queue: str, channel: str, which: sa.UpdateBase = OLDEST) -> Claimed | None:
    """Claim the delivery that has been due longest in a channel, or return None if none is due. Skip locked rows."""
    values = {"token": uuid.uuid4(), "of_queue": queue, "of_channel": channel}
    with unit_of_work():
        row = db.session.execute(which, values).one_or_none()
    if row is None:
        return None
    *columns, preferences = row
    claimed = Claimed(*columns)
    if preferences is not None:
        claimed.preferences = DeliveryPreferences(*preferences)
    return claimed


def begin(delivery: Claimed) -> None:
    """Record that the call to the provider starts now. Extend the lease if it is short.

    From now until an outcome is recorded, the outcome counts as unknown. A worker that dies in this time may have sent
    the delivery. Raise `ClaimLostError` if the delivery was cancelled since the claim.
    """
    with unit_of_work():
        unconfirmed_calls = db.session.scalar(_begin, {"of_id": delivery.id, "token": delivery.claim_token})
    if unconfirmed_calls is None:
        raise ClaimLostError
    delivery.call_started, delivery.unconfirmed_calls = True, unconfirmed_calls
