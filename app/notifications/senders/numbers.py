"""Numbers that messages reach, and those that they do not.

A number counts as invalid, and is not written to, when the provider has said twice, a day apart, that nobody is there,
or somebody there that it is not the person's. Once, a week later, one message tries it anew; a changed number is a new
one.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.settings import settings
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications.models import Channel, Receipt, deliveries
from app.notifications.senders.models import phone_numbers

#: Two refusals so far apart make a number invalid.
APART = timedelta(hours=24)
#: When an invalid number is tried once more.
PROBE_AFTER = timedelta(days=7)

_numbers = phone_numbers.c
_now = sa.func.statement_timestamp()

#: Whether anything speaks against a number.
is_doubted = sa.or_(_numbers.refused_at.is_not(None), _numbers.probed_at.is_not(None))
#: Whether one message may try a person's number although it is invalid.
probe_is_due = sa.and_(
    User.phone_invalid_at <= _now - PROBE_AFTER, _numbers.probed_at.is_(None), _numbers.wrong_at.is_(None)
)


def heard_from(phone: str, at: datetime) -> None:
    """Note that the owner of a number (E.164) wrote to us at this moment: it is reached, and WhatsApp's 24 hours begin.

    Messages may be noted in any order.
    """
    latest = sa.func.least(at, _now)  # a clock that runs ahead must not keep the hours open
    _note(phone, last_inbound_at=sa.func.greatest(_numbers.last_inbound_at, latest), first={"last_inbound_at": latest})
    reached(phone)


def reached(phone: str) -> None:
    """Note that somebody is at this number after all. Who said that it is a wrong one is believed nevertheless."""
    forgotten = (
        sa.update(phone_numbers)
        .where(_numbers.phone == phone, _numbers.wrong_at.is_(None), is_doubted)
        .values(refused_at=None, probed_at=None)
        .returning(_numbers.phone)
    )
    if db.session.scalar(forgotten) is not None:
        _flag(phone, None)


def accepted(phone: str) -> None:
    """Note that the provider took a message for a doubted number.

    Where receipts tell whether it arrived, that alone proves nothing: a number that was tried is written to again, and
    should this message fail as well, it is invalid for good.
    """
    if settings.hears_people:
        _flag(phone, None)
    else:
        reached(phone)


def refused(phone: str) -> bool:
    """Note that the provider says that nobody is at this number; returns whether it counts as invalid now."""
    first_at = sa.case((_has_arrived_since, _now), else_=sa.func.coalesce(_numbers.refused_at, _now))
    is_dead = _note(
        phone, refused_at=first_at, first={"refused_at": _now}, returning=_numbers.refused_at <= _now - APART
    )
    if is_dead:
        _flag(phone, _now)
    return is_dead


def wrong(phone: str) -> None:
    """Note that whoever has this number says that it is not the person's: nothing more is sent there, nor a probe."""
    _note(phone, wrong_at=_now, first={"wrong_at": _now})
    _flag(phone, _now)


def is_wrong(phone: str) -> bool:
    """Whether somebody there has said that it is not the person's, who has not shown since that it is."""
    is_open = sa.or_(User.phone_invalid_at.is_not(None), ~PHONE_IS_PROVEN)
    said = sa.exists().where(
        _numbers.phone == phone, _numbers.wrong_at.is_not(None), User.phone == _numbers.phone, is_open
    )
    return bool(db.session.scalar(sa.select(said)))


def take_probe(phone: str) -> bool:
    """Whether one message may try an invalid number now: once, a week after it became invalid."""
    taken = (
        sa.update(phone_numbers)
        .where(_numbers.phone == phone, User.phone == _numbers.phone, probe_is_due)
        .values(probed_at=_now)
        .returning(_numbers.phone)
    )
    return db.session.scalar(taken) is not None


def give_probe_back(phone: str) -> None:
    """The message that took it has not tried the number after all: the next may."""
    db.session.execute(sa.update(phone_numbers).where(_numbers.phone == phone).values(probed_at=None))


#: Whether a message arrived at a number after the number was refused. Names the updated row in plain SQL, because
#: SQLAlchemy does not correlate a subquery inside ON CONFLICT DO UPDATE.
_has_arrived_since = sa.exists().where(
    User.phone == sa.literal_column("phone_numbers.phone"),
    deliveries.c.user_id == User.id,
    deliveries.c.channel == Channel.MESSAGING,
    deliveries.c.receipt.in_((Receipt.DELIVERED, Receipt.READ)),
    deliveries.c.receipt_at > sa.literal_column("phone_numbers.refused_at"),
)


def _note(
    phone: str, *, first: dict[str, object], returning: sa.ColumnElement[bool] | None = None, **change: object
) -> bool:
    """Change a number's row, or make it with the values `first`; returns the truth of `returning`."""
    statement = (
        insert(phone_numbers)
        .values(phone=phone, **first)
        .on_conflict_do_update(index_elements=[_numbers.phone], set_=change)
        .returning(sa.true() if returning is None else returning)
    )
    return bool(db.session.scalar(statement))


def _flag(phone: str, at: sa.ColumnElement[datetime] | None) -> None:
    """Count the number of whoever has it as invalid since a moment, or (None) as valid."""
    is_new = User.phone_invalid_at.is_not(None) if at is None else User.phone_invalid_at.is_(None)
    db.session.execute(
        sa.update(User)
        .where(User.phone == phone, is_new)
        .values(phone_invalid_at=at)
        .execution_options(synchronize_session=False)
    )
