"""Numbers whose messages are accepted and never arrive, while those of others do: nobody refuses them, and nobody is
there. Only receipts show it."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import autocommit
from app.core.jobs.queue import QUEUES
from app.core.settings import settings
from app.identity.models import User
from app.notifications.models import Channel, Receipt, State, deliveries
from app.notifications.senders.models import phone_numbers

#: For so long no receipt came.
SILENT_FOR = timedelta(days=3)
#: How far back the first of the messages that nothing was heard of is looked for.
BEFORE = timedelta(days=1)

_now = sa.func.statement_timestamp()
#: What the provider says once a message has left it.
_ARRIVED = (Receipt.SENT, Receipt.DELIVERED, Receipt.READ)


def _messages(rows: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(rows.c.channel == Channel.MESSAGING, rows.c.queue.in_(QUEUES), rows.c.state == State.SENT)


_first, _any, _others = deliveries.alias("first"), deliveries.alias("any"), deliveries.alias("others")
_heard_of_others = sa.exists().where(
    _messages(_others), _others.c.settled_at > _now - SILENT_FOR, _others.c.receipt.in_(_ARRIVED)
)
_heard_of_theirs = sa.exists().where(
    _any.c.user_id == _first.c.user_id,
    _messages(_any),
    _any.c.settled_at > _now - SILENT_FOR - BEFORE,
    _any.c.receipt.in_(_ARRIVED),
)
#: Written to since as well: one message that got lost says little.
_written_to_since = sa.exists().where(
    _any.c.user_id == _first.c.user_id,
    _messages(_any),
    _any.c.settled_at > _now - SILENT_FOR,
    _any.c.receipt == Receipt.ACCEPTED,
)
_silent = (
    sa.select(User.phone, sa.func.min(_first.c.settled_at))
    .select_from(_first.join(User, User.id == _first.c.user_id))
    .where(
        _messages(_first),
        _first.c.settled_at.between(_now - SILENT_FOR - BEFORE, _now - SILENT_FOR),
        _first.c.receipt == Receipt.ACCEPTED,
        User.phone.is_not(None),
        _heard_of_others,
        ~_heard_of_theirs,
        _written_to_since,
    )
    .group_by(User.phone)
)
_note = (
    insert(phone_numbers)
    .from_select(["phone", "silent_at"], _silent)
    .on_conflict_do_update(
        index_elements=[phone_numbers.c.phone],
        set_={"silent_at": sa.func.coalesce(phone_numbers.c.silent_at, sa.literal_column("excluded.silent_at"))},
    )
)
_forget = (
    sa.update(phone_numbers)
    .where(
        phone_numbers.c.silent_at.is_not(None),
        sa.exists().where(
            User.phone == phone_numbers.c.phone,
            _any.c.user_id == User.id,
            _messages(_any),
            _any.c.receipt.in_(_ARRIVED),
            _any.c.receipt_at > phone_numbers.c.silent_at,
        ),
    )
    .values(silent_at=None)
)


def look() -> None:
    """Note the numbers that nothing arrives at, and forget those where something did again."""
    if not settings.hears_people:
        return
    with autocommit() as connection:
        connection.execute(_forget)
        connection.execute(_note)
