"""What a bell says: the open times of its moment. A worker reads them just before it sends the bell.

An answer, an edit, a deletion or a withdrawn consent changes what is read here. So nothing has to cancel a bell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import db
from app.core.settings import settings
from app.identity import consents, dependents, erasure
from app.identity.consents import Purpose
from app.identity.models import User
from app.notifications.delivery import message_format
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel, deliveries
from app.notifications.senders.models import phone_numbers
from app.pengingat.ledger import bells, rows, stock, tokens, upcoming
from app.pengingat.ledger.bells import BELL, SECOND, BellKind
from app.pengingat.models import LATE, Occurrence, OccurrenceState, Pengingat
from app.pengingat.outgoing import texts
from app.pengingat.outgoing.texts import Recipient
from app.pengingat.timetable.schedule import Due

#: States of an occurrence that a bell says. `MISSED` is included as long as the answer `done` is possible.
ASKED = (OccurrenceState.PENDING, OccurrenceState.MISSED)
#: Minimum time between the first message about a time and its second message. It is below 10 minutes, the shortest
#: delay of a second message. Otherwise the second message of a punctual first message would be left out.
JUST_NOW = timedelta(minutes=4)

_receiver = orm.aliased(User)
_receiver_name = sa.case((User.guardian_id.is_not(None), _receiver.nama_ktp)).label("reader")
_is_open = sa.exists().where(
    phone_numbers.c.phone == _receiver.phone,
    phone_numbers.c.last_inbound_at > db_time.now_sql() - message_format.OPEN_FOR,
)
_moment = sa.bindparam("moment", type_=sa.DateTime(timezone=True))
_channel = sa.bindparam("of_channel", type_=sa.Text)


def _told(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Return the condition that a bell of this channel has said the time."""
    of = deliveries.c
    return sa.exists().where(
        of.user_id == Occurrence.user_id,
        of.due_at.between(Occurrence.due_at, Occurrence.due_at + 2 * LATE),  # for the index
        of.kind == bells.KIND,
        of.channel == _channel,
        Occurrence.id == sa.any_(of.said),
        *which,
    )


_of = deliveries.c
_first_was_told = _told(bells.is_accepted(), _of.settled_at <= db_time.now_sql() - JUST_NOW)
_was_told_again = _told(
    _of.payload[BELL].astext == BellKind.AGAIN,
    _of.due_at != _moment,
    sa.or_(bells.is_accepted(), _of.unconfirmed_calls > 0),
)
#: Conditions, by the kind of the bell, of the times whose moment this is. Those of `again` are read for each delay.
_OF_MOMENT: dict[str, tuple[sa.ColumnElement[bool], ...]] = {
    BellKind.FIRST: (
        Occurrence.due_at > _moment - SECOND,
        Occurrence.due_at <= _moment,
        Occurrence.snoozed_until.is_(None),
    ),
    BellKind.AGAIN: (
        Occurrence.due_at >= _moment - LATE - SECOND,
        Occurrence.due_at < _moment,
        Occurrence.snoozed_until.is_(None),
        _first_was_told,
        ~_was_told_again,
    ),
    BellKind.SNOOZE: (Occurrence.snoozed_until == _moment,),
}


def _reading(*which: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(Occurrence, Pengingat, User.nama_ktp, _receiver_name, _is_open.label("is_open"), db_time.now_sql())
        .join(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .join(User, User.id == Occurrence.user_id)
        .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
        .where(
            Occurrence.user_id == sa.bindparam("of_user", type_=sa.BigInteger),
            Occurrence.state.in_(ASKED),
            erasure.IS_PRESENT,
            ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
            *which,
        )
        .order_by(Occurrence.reminder_id, Occurrence.slot)
        .options(rows.WITH_NEXT)
        .execution_options(populate_existing=True)
    )


_READ = {kind: _reading(*which) for kind, which in _OF_MOMENT.items()}


def render(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return what these bells say, by delivery id. Leave out bells that have nothing to say."""
    return {each.id: words for each in claimed if (words := _words(each)) is not None}


def read(
    user_id: int, kind: str, moment: datetime, channel: str
) -> list[tuple[Occurrence, Pengingat, Recipient, bool]]:
    """Return the times that a bell says now, with their reminder, and whether WhatsApp accepts free text."""
    channel = Channel.PUSH if channel == Channel.PUSH_FAN_OUT else channel
    found = db.session.execute(_READ[kind], {"of_user": user_id, "moment": moment, "of_channel": channel}).all()
    return [
        (row, pengingat, Recipient(name, reader), is_open)
        for row, pengingat, name, reader, is_open, now in found
        if not rows.is_too_late(row, now)
        and (kind != BellKind.AGAIN or bells.again_at(pengingat, row.due_at) == moment)
    ]


def _words(bell: Claimed) -> Words | None:
    kind = str(bell.payload[BELL])
    found = read(bell.user_id or 0, kind, bell.due_at, bell.channel)
    # After an unknown call, the person may have the message. So a repeat keeps its numbers, and says nothing new.
    said = list(bell.said or ()) if bell.unconfirmed_calls else []
    if said:
        found = [each for each in found if each[0].id in said]
    if not found:
        return None
    numbers = said or [row.id for row, *_ in found]
    _, _, recipient, is_open = found[0]
    token = tokens.token_of(bell.id, bell.dedupe_key)
    lines = [
        texts.line(numbers.index(row.id) + 1, pengingat, _due(row, pengingat), recipient, again=kind == BellKind.AGAIN)
        for row, pengingat, *_ in found
    ]
    if bell.channel == Channel.MESSAGING:
        is_short = settings.follows_whatsapp_hours and not (is_open and not message_format.is_template(bell.payload))
        words, named = texts.message(lines, recipient, token, is_list=len(numbers) > 1, is_short=is_short)
    else:
        words, named = texts.push(lines, recipient, is_list=len(numbers) > 1)
        words = {**words, "actions": texts.ACTIONS, "token": token}
    return {**words, "said": said or [row.id for row, *_ in found[:named]], "link_hash": tokens.hash_of(token)}


def _due(row: Occurrence, pengingat: Pengingat) -> Due:
    """Return the due time. If an edit has removed its dose, meal, session or notice, only the title says it."""
    due = upcoming.due_of(row)
    is_there = row.tipe == pengingat.tipe and pengingat.schedule.has_slot(due.slot)
    return due if is_there else replace(due, slot=texts.REMOVED)


# --- stock notices ---------------------------------------------------------------------------------------------------

_stock_of = (
    sa.select(Pengingat, User.nama_ktp, _receiver_name)
    .join(User, User.id == Pengingat.user_id)
    .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
    .where(
        Pengingat.id.in_(sa.bindparam("ids", expanding=True)),
        erasure.IS_PRESENT,
        ~consents.is_withdrawn(User.id, Purpose.HEALTH_DATA),
    )
    .execution_options(populate_existing=True)
)


def render_stock(claimed: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of stock notices by delivery id. Leave out medicines of which there is enough again."""
    now = db_time.now()
    found = db.session.execute(_stock_of, {"ids": [each.about_id for each in claimed]}).all()
    known = {pengingat.id: (pengingat, Recipient(name, reader)) for pengingat, name, reader in found}
    return {
        each.id: texts.stock(pengingat, day, recipient, is_push=each.channel != Channel.MESSAGING)
        for each in claimed
        if each.about_id in known
        for pengingat, recipient in [known[each.about_id]]
        if (day := stock.runs_out_on(pengingat, now))
    }
