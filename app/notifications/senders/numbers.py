"""Phone numbers of recipients, and whether messages reach these numbers.

A number is invalid if the provider has refused it twice, at least a day apart. An invalid number gets no message for a
week. Then the next message decides: the number is valid again, or invalid for another week.

A number is wrong if somebody answered `SALAH NOMOR` ("wrong number") from it. The number is no longer wrong when a
person proves that they own the number.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.settings import settings
from app.identity import dependents
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications.models import Channel, Receipt, deliveries
from app.notifications.senders.models import phone_numbers

#: Minimum time between the first refusal of a number and the refusal that makes the number invalid.
APART = timedelta(hours=24)
#: Time for which an invalid number gets no message.
RESTS_FOR = timedelta(days=7)
#: A number counts as in use for this time after its owner answered a message or received a message.
IN_USE_FOR = timedelta(days=90)
#: Minimum time between two updates of `used_at`, so that many messages on one day cause only one update.
USE_RECORDED_EVERY = timedelta(days=1)

_numbers = phone_numbers.c
_known = phone_numbers.alias("known").c
_now = sa.func.statement_timestamp()

#: Condition: the provider has refused the number.
is_doubted = _numbers.refused_at.is_not(None)
#: Condition: a person's number is invalid, and gets no message yet.
IS_RESTING = User.phone_invalid_at > _now - RESTS_FOR

#: Time at which a person's account got its present number.
_took_at = sa.func.coalesce(User.phone_changed_at, User.created_at)


def _has_row(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Return an SQL condition: a row in `phone_numbers` has the person's number and meets all conditions in `which`."""
    return sa.exists().where(_known.phone == User.phone, *which)


#: Condition: somebody reported that the person's number is wrong, and the person has not proven the number since.
IS_WRONG = sa.and_(_has_row(_known.wrong_at.is_not(None)), ~PHONE_IS_PROVEN)
#: Condition: a person's number is proven, or was used in the last 90 days while it belonged to the person.
IS_IN_USE = sa.or_(PHONE_IS_PROVEN, _has_row(_known.used_at > _now - IN_USE_FOR, _known.used_at > _took_at))
#: Condition: a person has had an unproven number for at least 90 days, and the number was not used in the last 90 days.
IS_SILENT = sa.and_(~PHONE_IS_PROVEN, _took_at <= _now - IN_USE_FOR, ~_has_row(_known.used_at > _now - IN_USE_FOR))
#: Condition: `used_at` of a number was updated less than `USE_RECORDED_EVERY` ago.
use_is_recorded = _numbers.used_at > _now - USE_RECORDED_EVERY


def lock(phone: str) -> None:
    """Lock the row of a number, if it has one.

    To avoid deadlocks, callers lock this row before they lock the user who has the number.
    """
    row = sa.select(_numbers.phone).where(_numbers.phone == phone)
    db.session.execute(row.with_for_update(key_share=True))


def record_use(phone: str) -> None:
    """Record that a number is in use: its owner answered or received a message now."""
    _record(phone, used_at=_now, first={"used_at": _now})


def record_received(delivery_ids: Collection[int]) -> None:
    """Record that the numbers of these deliveries are in use, if receipts show that the deliveries arrived."""
    _rows = deliveries.c
    arrived = (
        sa.select(User.phone, sa.func.max(sa.func.least(_rows.receipt_at, _now)))
        .select_from(deliveries)
        .join(User, User.id == dependents.receiver_of(_rows.user_id))
        .outerjoin(phone_numbers, _numbers.phone == User.phone)
        .where(
            _rows.id.in_(delivery_ids),
            _rows.channel == Channel.MESSAGING,
            _rows.receipt.in_((Receipt.DELIVERED, Receipt.READ)),
            _rows.receipt_at > _took_at,
            sa.func.coalesce(_rows.target, User.phone) == User.phone,
            sa.func.coalesce(~use_is_recorded, sa.true()),
        )
        .group_by(User.phone)
        .order_by(User.phone)
    )
    adding = insert(phone_numbers).from_select(["phone", "used_at"], arrived)
    later = sa.func.greatest(_numbers.used_at, adding.excluded.used_at)
    db.session.execute(adding.on_conflict_do_update(index_elements=[_numbers.phone], set_={"used_at": later}))


def record_message(phone: str, at: datetime) -> None:
    """Record that the owner of an E.164 number wrote to us at this time. Messages may be recorded in any order.

    For 24 hours from this time, WhatsApp accepts free text to this number. Earlier refusals of the number are deleted.
    """
    latest = sa.func.least(at, _now)  # a provider's clock that is ahead must not extend the 24 hours
    _record(
        phone, last_inbound_at=sa.func.greatest(_numbers.last_inbound_at, latest), first={"last_inbound_at": latest}
    )
    reached(phone)


def reached(phone: str) -> None:
    """Delete the refusal of a number, because messages reach this number. Skip wrong numbers."""
    forgotten = (
        sa.update(phone_numbers)
        .where(_numbers.phone == phone, _numbers.wrong_at.is_(None), is_doubted)
        .values(refused_at=None)
        .returning(_numbers.phone)
    )
    if db.session.scalar(forgotten) is not None:
        _flag(phone, None)


def accepted(phone: str) -> None:
    """Record that the provider accepted a message to a number that is in doubt, see `is_doubted`.

    The number is valid again and gets messages. If the service receives receipts, keep the earlier refusal, because a
    receipt may still report that this message failed. This failure then counts as the second refusal. If the service
    receives no receipts, delete the refusal.
    """
    if settings.receives_messages:
        _flag(phone, None)
    else:
        reached(phone)


def refused(phone: str) -> bool:
    """Record that the provider refused the number. Return whether the number is invalid now."""
    first_at = sa.case((_has_arrived_since, _now), else_=sa.func.coalesce(_numbers.refused_at, _now))
    is_dead = _record(
        phone, refused_at=first_at, first={"refused_at": _now}, returning=_numbers.refused_at <= _now - APART
    )
    if is_dead:
        _flag(phone, _now)
    return is_dead


def record_wrong(phone: str) -> bool:
    """Record the answer `SALAH NOMOR` (wrong number) from this number. Return whether it is the first such answer.

    From then on the number is unverified. The service sends no messages to the number.
    """
    is_new = _record(
        phone,
        wrong_at=sa.func.coalesce(_numbers.wrong_at, _now),
        first={"wrong_at": _now},
        returning=_numbers.wrong_at == _now,
    )
    _flag(phone, _now)
    db.session.execute(sa.update(User).where(User.phone == phone).values(phone_verified_at=None))
    return is_new


def is_wrong(phone: str) -> bool:
    """Return whether an account has this number and meets the condition `IS_WRONG`."""
    return bool(db.session.scalar(sa.select(sa.exists().where(User.phone == phone, IS_WRONG))))


def record_proven(phone: str) -> None:
    """Record that a number was just proven: delete its refusal, and its flag "wrong"."""
    values = {"wrong_at": None, "refused_at": None}
    db.session.execute(sa.update(phone_numbers).where(_numbers.phone == phone).values(**values))


def is_in_use(user_id: int) -> bool:
    """Return whether the person's number is proven or was used recently, see `IS_IN_USE`."""
    return bool(db.session.scalar(sa.select(sa.exists().where(User.id == user_id, IS_IN_USE))))


def problem_of(user: User) -> str | None:
    """Return `wrong_number` or `unreachable` if messages cannot reach a person, or else None."""
    if user.phone is not None and is_wrong(user.phone):
        return "wrong_number"
    return None if user.phone_invalid_at is None else "unreachable"


_person = orm.aliased(User)
#: Condition: a message arrived at a number after the provider refused the number. The columns of `phone_numbers` are
#: written as plain SQL, because SQLAlchemy does not correlate a subquery inside ON CONFLICT DO UPDATE.
_has_arrived_since = sa.exists().where(
    User.phone == sa.literal_column("phone_numbers.phone"),
    dependents.is_received_by(_person, User.id),
    deliveries.c.user_id == _person.id,
    deliveries.c.channel == Channel.MESSAGING,
    deliveries.c.receipt.in_((Receipt.DELIVERED, Receipt.READ)),
    deliveries.c.receipt_at > sa.literal_column("phone_numbers.refused_at"),
)


def _record(
    phone: str, *, first: dict[str, object], returning: sa.ColumnElement[bool] | None = None, **change: object
) -> bool:
    """Update a number's row with `change`. If no row exists, insert one with the values `first`.

    Return the value of `returning` after this.
    """
    statement = (
        insert(phone_numbers)
        .values(phone=phone, **first)
        .on_conflict_do_update(index_elements=[_numbers.phone], set_=change)
        .returning(sa.true() if returning is None else returning)
    )
    return bool(db.session.scalar(statement))


def _flag(phone: str, at: sa.ColumnElement[datetime] | None) -> None:
    """Mark the number of an account as invalid since `at`. If `at` is None, mark the number as valid."""
    db.session.execute(
        sa.update(User)
        .where(User.phone == phone, sa.true() if at is not None else User.phone_invalid_at.is_not(None))
        .values(phone_invalid_at=at)
        .execution_options(synchronize_session=False)
    )
