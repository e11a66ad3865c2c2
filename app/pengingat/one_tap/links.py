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
from sqlalchemy.dialects.postgresql import array

from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Gone, NotFound
from app.core.lib.local_time import JAKARTA
from app.identity import dependents, erasure
from app.identity.models import User
from app.notifications.models import DeliveryState, deliveries
from app.pengingat.ledger import answers, rows
from app.pengingat.ledger.schemas import LinkAnswer, QuickAnswer
from app.pengingat.ledger.tokens import hash_of, link_token_of
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat, occurrences

#: Time after the due time at which a link expires.
LIFETIME = timedelta(hours=24)

NOT_FOUND = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
EXPIRED = "Tautan ini sudah tidak berlaku."


_rows = occurrences.c
_hashes = sa.bindparam("by_link", type_=sa.Text), sa.bindparam("by_push", type_=sa.Text)
#: The person whose phone number received the link: the caregiver of a dependent, else the owner of the reminder.
_receiver = orm.aliased(User)
_sent_since = (
    sa.exists()
    .where(
        deliveries.c.occurrence_id == _rows.id,
        sa.or_(deliveries.c.state == DeliveryState.SENT, deliveries.c.unconfirmed_calls > 0),
        sa.func.coalesce(deliveries.c.settled_at, deliveries.c.due_at) > _receiver.phone_changed_at,
    )
    # The table `occurrences` is two levels above this subquery, where SQLAlchemy does not correlate by itself.
    .correlate_except(deliveries)
)
#: SQL value: true if the person is a dependent. A caregiver receives the messages of a dependent. The value is NULL if
#: the link must not work, because the person has requested erasure or the receiver has changed the phone number. Before
#: the change of the number, another person may have received the link, for example a former caregiver.
_is_dependent = (
    sa.select(User.guardian_id.is_not(None))
    .join(_receiver, _receiver.id == dependents.RECEIVER_ID)
    .where(
        User.id == _rows.user_id,
        erasure.IS_PRESENT,
        sa.or_(_receiver.phone_changed_at.is_(None), _rows.due_at > _receiver.phone_changed_at, _sent_since),
    )
)
#: Query with subqueries instead of joins. With joins, PostgreSQL expects many rows and would scan both tables.
_asked = (
    sa.select(
        Occurrence,
        (_rows.link_hash.is_not_distinct_from(_hashes[1])).label("is_push"),
        sa.select(Pengingat.timezone).where(Pengingat.id == _rows.reminder_id).scalar_subquery(),
        _is_dependent.scalar_subquery(),
        db_time.now_sql(),
    )
    .where(sa.or_(*(_rows.link_hash == each for each in _hashes), _rows.shared_links.contains(array([_hashes[0]]))))
    .order_by(_rows.due_at, _rows.id)
    .options(rows.WITH_NEXT)
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
    found, now = read(hash_of(token), hash_of(link_token_of(token)))
    if max(row.due_at for row in found.occurrences) + LIFETIME < now:
        raise Gone(EXPIRED)
    return found


def read(by_link: str, by_push: str) -> tuple[AnswerTargets, datetime]:
    """Return the occurrences of a token, and the database's time. Raise `NotFound` if there are none."""
    found = db.session.execute(_asked, {"by_link": by_link, "by_push": by_push}).all()
    held = [row for row in found if row[-2] is not None]
    if not held:
        raise NotFound(NOT_FOUND)
    _, is_push, _, is_dependent, now = held[0]
    via = AnsweredVia.CAREGIVER if is_dependent else AnsweredVia.PUSH if is_push else AnsweredVia.LINK
    zone = next((ZoneInfo(zone) for *_, zone, _, _ in held if zone), JAKARTA)
    return AnswerTargets([row for row, *_ in held], zone, via), now


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
