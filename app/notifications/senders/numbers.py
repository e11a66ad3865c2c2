"""Recipients' numbers, and whether messages reach them.

A number is invalid if the provider has refused it twice, at least a day apart. It gets no messages, except one probe a
week later. A changed number starts without flags.

A number that answered SALAH NOMOR (wrong number) is wrong until an account proves it. The flag stays if another account
takes the number.
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

#: Minimum time between two refusals that make a number invalid.
APART = timedelta(hours=24)
#: Time after which an invalid number is probed once.
PROBE_AFTER = timedelta(days=7)
#: Time without an answer or a received message, after which a number is not in use.
IN_USE_FOR = timedelta(days=90)
#: Time between two records of a number's use, so that a day of messages costs one write.
USE_NOTED_EVERY = timedelta(days=1)
#: Maximum number of codes that a wrong number gets until it is proven.
MAX_WRONG_CODES = 3

#: Kinds of the messages by which numbers are proven. Their receipts do not show who uses a number.
CODE, MOVE = "phone_code", "phone_move"
PROOFS = frozenset({CODE, MOVE})

_numbers = phone_numbers.c
_known = phone_numbers.alias("known").c
_now = sa.func.statement_timestamp()

#: Condition: the number was refused or probed.
is_doubted = sa.or_(_numbers.refused_at.is_not(None), _numbers.probed_at.is_not(None))
#: Condition: one message may be sent to a person's invalid number, as a probe.
probe_is_due = sa.and_(
    User.phone_invalid_at <= _now - PROBE_AFTER, _numbers.probed_at.is_(None), _numbers.wrong_at.is_(None)
)

#: Time since which a person has their number.
_took_at = sa.func.coalesce(User.phone_changed_at, User.created_at)


def _has_row(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Return the condition that the row of a person's number has these properties."""
    return sa.exists().where(_known.phone == User.phone, *which)


#: Condition: a person's number answered SALAH NOMOR, and is not proven.
IS_WRONG = sa.and_(_has_row(_known.wrong_at.is_not(None)), ~PHONE_IS_PROVEN)
#: Condition: a person's number ended reminders while it was not proven, and is not proven now.
IS_STOPPED = sa.and_(_has_row(_known.stopped_at.is_not(None)), ~PHONE_IS_PROVEN)
#: Condition: a person's number is proven. Or, since they have it, it recently answered or received anything except
#: proofs.
IS_IN_USE = sa.or_(PHONE_IS_PROVEN, _has_row(_known.used_at > _now - IN_USE_FOR, _known.used_at > _took_at))
#: Condition: a person has an unproven number for at least `IN_USE_FOR`, and the number was not used in that time.
IS_SILENT = sa.and_(~PHONE_IS_PROVEN, _took_at <= _now - IN_USE_FOR, ~_has_row(_known.used_at > _now - IN_USE_FOR))
#: Condition: the use of a number was recorded recently.
use_is_noted = _numbers.used_at > _now - USE_NOTED_EVERY


def lock(phone: str) -> sa.Row[datetime | None, int] | None:
    """Lock the row of a number, before the people who have it. Return `wrong_at` and `wrong_codes`."""
    row = sa.select(_numbers.wrong_at, _numbers.wrong_codes).where(_numbers.phone == phone)
    return db.session.execute(row.with_for_update(key_share=True)).one_or_none()


def record_use(phone: str) -> None:
    """Record that the owner of a number answered now, or received a message that is not a proof."""
    _record(phone, used_at=_now, first={"used_at": _now})


def record_received(delivery_ids: Collection[int]) -> None:
    """Record the use of the numbers at which these deliveries arrived, according to their receipts."""
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
            _rows.kind.not_in(PROOFS),
            sa.func.coalesce(_rows.target, User.phone) == User.phone,
            sa.func.coalesce(~use_is_noted, sa.true()),
        )
        .group_by(User.phone)
        .order_by(User.phone)
    )
    adding = insert(phone_numbers).from_select(["phone", "used_at"], arrived)
    later = sa.func.greatest(_numbers.used_at, adding.excluded.used_at)
    db.session.execute(adding.on_conflict_do_update(index_elements=[_numbers.phone], set_={"used_at": later}))


def record_message(phone: str, at: datetime) -> None:
    """Record that the owner of an E.164 number wrote to us at this time. Messages may be recorded in any order.

    The number counts as reached, and WhatsApp's 24 hours begin.
    """
    latest = sa.func.least(at, _now)  # a clock that is ahead must not extend the 24 hours
    _record(
        phone, last_inbound_at=sa.func.greatest(_numbers.last_inbound_at, latest), first={"last_inbound_at": latest}
    )
    reached(phone)


def reached(phone: str) -> None:
    """Delete the refusal and the probe of a number, because somebody answered there. A wrong number keeps its flags."""
    forgotten = (
        sa.update(phone_numbers)
        .where(_numbers.phone == phone, _numbers.wrong_at.is_(None), is_doubted)
        .values(refused_at=None, probed_at=None)
        .returning(_numbers.phone)
    )
    if db.session.scalar(forgotten) is not None:
        _flag(phone, None)


def accepted(phone: str) -> None:
    """Record that the provider accepted a message to a doubted number.

    If we get receipts, acceptance alone is no evidence. The number gets messages again, and keeps its refusal and its
    probe. If this message fails too, the number is invalid for good.
    """
    if settings.hears_people:
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


def wrong(phone: str) -> bool:
    """Flag a number that answered SALAH NOMOR, and end its proof. Return whether the flag is new.

    Messages to the number stop, and it gets no probe.
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
    """Return whether an account has this number, and the number is flagged as wrong."""
    return bool(db.session.scalar(sa.select(sa.exists().where(User.phone == phone, IS_WRONG))))


def count_wrong_code(phone: str) -> None:
    """Count a code that is sent to a wrong number. The caller has locked its row."""
    counted = sa.update(phone_numbers).where(_numbers.phone == phone).values(wrong_codes=_numbers.wrong_codes + 1)
    db.session.execute(counted)


def stop(phone: str) -> None:
    """Record that an unproven number ended reminders. Only MULAI (start) from the number, or a proof, ends that."""
    _record(phone, stopped_at=_now, first={"stopped_at": _now})


def resume(phone: str) -> None:
    """Record that a number accepts reminders again."""
    db.session.execute(sa.update(phone_numbers).where(_numbers.phone == phone).values(stopped_at=None))


def is_stopped(user_id: int) -> bool:
    """Return whether the person's number has ended reminders."""
    return bool(db.session.scalar(sa.select(sa.exists().where(User.id == user_id, IS_STOPPED))))


def proven(phone: str) -> None:
    """Delete every flag of a number that was just proven."""
    values = {"wrong_at": None, "wrong_codes": 0, "stopped_at": None, "refused_at": None, "probed_at": None}
    db.session.execute(sa.update(phone_numbers).where(_numbers.phone == phone).values(**values))


def is_in_use(user_id: int) -> bool:
    """Return whether the person's number is in use."""
    return bool(db.session.scalar(sa.select(sa.exists().where(User.id == user_id, IS_IN_USE))))


def problem_of(user: User) -> str | None:
    """Return why messages do not reach a person's number: `wrong_number`, `unreachable`, or None."""
    if user.phone is not None and is_wrong(user.phone):
        return "wrong_number"
    return None if user.phone_invalid_at is None else "unreachable"


def take_probe(phone: str) -> bool:
    """Take the only probe of an invalid number, a week after it became invalid. Return whether it was available."""
    taken = (
        sa.update(phone_numbers)
        .where(_numbers.phone == phone, User.phone == _numbers.phone, probe_is_due)
        .values(probed_at=_now)
        .returning(_numbers.phone)
    )
    return db.session.scalar(taken) is not None


def give_probe_back(phone: str) -> None:
    """Allow another probe, because the message that took it did not try the number."""
    db.session.execute(sa.update(phone_numbers).where(_numbers.phone == phone).values(probed_at=None))


_person = orm.aliased(User)
#: Condition: a message arrived at a number after the number was refused. The updated row is named in plain SQL, because
#: SQLAlchemy does not correlate a subquery inside ON CONFLICT DO UPDATE.
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
    """Update a number's row, or insert it with the values `first`. Return the value of `returning`."""
    statement = (
        insert(phone_numbers)
        .values(phone=phone, **first)
        .on_conflict_do_update(index_elements=[_numbers.phone], set_=change)
        .returning(sa.true() if returning is None else returning)
    )
    return bool(db.session.scalar(statement))


def _flag(phone: str, at: sa.ColumnElement[datetime] | None) -> None:
    """Mark the number as invalid since `at`, for the person who has it. With None, mark it as valid."""
    is_new = User.phone_invalid_at.is_not(None) if at is None else User.phone_invalid_at.is_(None)
    db.session.execute(
        sa.update(User)
        .where(User.phone == phone, is_new)
        .values(phone_invalid_at=at)
        .execution_options(synchronize_session=False)
    )
