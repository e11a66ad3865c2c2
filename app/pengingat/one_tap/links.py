"""Answers to reminders without a login, by the link in a message or by a button of a push.

Links and pushes contain a token, see `ledger.tokens`. An occurrence is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Gone, NotFound
from app.core.lib.local_time import JAKARTA
from app.identity import dependents, erasure
from app.identity.models import User
from app.notifications.models import Channel, deliveries
from app.pengingat.ledger import answers, rows
from app.pengingat.ledger.schemas import LinkAnswer, QuickAnswer
from app.pengingat.ledger.tokens import hash_of
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat

#: Time after the due time at which a link expires.
LIFETIME = timedelta(hours=24)

NOT_FOUND = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
EXPIRED = "Tautan ini sudah tidak berlaku."


_of = deliveries.c
#: The person whose phone number received the link: the caregiver of a dependent, else the owner of the reminders.
_receiver = orm.aliased(User)
#: Query of the times that a message or a push has said, in the order of their numbers. It finds nothing if the person
#: has requested erasure, or if the receiver has changed the phone number since. Before the change, another person may
#: have received the link, for example a former caregiver.
_asked = (
    sa.select(Occurrence, _of.channel, Pengingat.timezone, User.guardian_id, db_time.now_sql())
    .join(deliveries, Occurrence.id == sa.any_(_of.said))
    .join(User, User.id == _of.user_id)
    .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
    .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
    .where(
        _of.link_hash == sa.bindparam("by_link", type_=sa.Text),
        erasure.IS_PRESENT,
        sa.or_(
            _receiver.phone_changed_at.is_(None),
            _receiver.phone_changed_at < sa.func.coalesce(_of.settled_at, _of.due_at),
        ),
    )
    .order_by(sa.func.array_position(_of.said, Occurrence.id))
    .options(rows.WITH_NEXT)
    .execution_options(populate_existing=True)
)


@dataclass(frozen=True)
class AnswerTargets:
    """Occurrences that one answer applies to, for example all occurrences of a link's token."""

    occurrences: Sequence[Occurrence]
    zone: ZoneInfo
    via: AnsweredVia
    #: Name of the dependent if a caregiver answered by message, else empty.
    whom: str = ""


def get_targets(token: str) -> AnswerTargets:
    """Return the occurrences of a token. The function changes nothing, because chat apps fetch links for a preview.

    Raise `Gone` 24 hours after the due time of the last occurrence. Raise `NotFound` if the token is unknown, or if the
    person has requested erasure or the receiver of the link has changed the phone number.
    """
    found, now = read(hash_of(token))
    if max(row.due_at for row in found.occurrences) + LIFETIME < now:
        raise Gone(EXPIRED)
    return found


def read(by_link: str) -> tuple[AnswerTargets, datetime]:
    """Return the occurrences of a token, and the database's time. Raise `NotFound` if there are none."""
    found = db.session.execute(_asked, {"by_link": by_link}).all()
    if not found:
        raise NotFound(NOT_FOUND)
    _, channel, _, guardian_id, now = found[0]
    by_owner = AnsweredVia.PUSH if channel == Channel.PUSH else AnsweredVia.LINK
    zone = next((ZoneInfo(row.timezone) for row in found if row.timezone), JAKARTA)
    via = by_owner if guardian_id is None else AnsweredVia.CAREGIVER
    return AnswerTargets([row for row, *_ in found], zone, via), now


def answer(token: str, data: QuickAnswer) -> LinkAnswer:
    """Answer the occurrences of a token, see `answers.answer_all`. An identical second answer has no effect."""
    asked = get_targets(token)
    first = answers.answer_all(asked.occurrences, data, asked.via)[0]
    return {
        "status": data.status,
        "tipe": first.tipe,
        "due_at": first.due_at,
        "state": first.state,
        "snoozed_until": first.snoozed_until,
    }
