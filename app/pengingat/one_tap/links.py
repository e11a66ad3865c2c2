"""Answers without a login, by the link of a message or by a button of a push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array

from app.core.database import db_time
from app.core.database.prepared import PreparedStatement, generic
from app.core.database.session import current_connection
from app.core.errors import Gone, NotFound
from app.core.lib.local_time import JAKARTA
from app.identity import erasure
from app.identity.models import User
from app.notifications.models import DeliveryState, deliveries
from app.pengingat.ledger import answers, statements
from app.pengingat.ledger.schemas import LinkAnswer, QuickAnswer
from app.pengingat.ledger.tokens import hash_of, link_token_of
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat, occurrences

#: Time after the due time during which a link works.
LIFETIME = timedelta(hours=24)

NOT_FOUND = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
EXPIRED = "Tautan ini sudah tidak berlaku."


_rows = occurrences.c
_hashes = generic("by_link", sa.Text()), generic("by_push", sa.Text())
_sent_since = sa.exists().where(
    deliveries.c.occurrence_id == _rows.id,
    sa.or_(deliveries.c.state == DeliveryState.SENT, deliveries.c.unconfirmed_calls > 0),
    sa.func.coalesce(deliveries.c.settled_at, deliveries.c.due_at) > User.phone_changed_at,
)
#: True if the person is a dependent. NULL if the person has requested erasure, or has changed the phone number since
#: the link was sent. Then somebody else may have the link, such as a caregiver who has handed the account over.
_is_dependent = sa.select(User.guardian_id.is_not(None)).where(
    User.id == _rows.user_id,
    erasure.IS_PRESENT,
    sa.or_(User.phone_changed_at.is_(None), _rows.due_at > User.phone_changed_at, _sent_since),
)
#: Subqueries instead of joins, because the generic plan expects many rows and would scan both tables.
_asked = PreparedStatement(
    sa.select(
        *_rows,
        sa.select(Pengingat.timezone).where(Pengingat.id == _rows.reminder_id).scalar_subquery(),
        _is_dependent.scalar_subquery(),
        db_time.now_sql(),
    )
    .where(sa.or_(*(_rows.link_hash == each for each in _hashes), _rows.shared_links.contains(array([_hashes[0]]))))
    .order_by(_rows.due_at, _rows.id)
)


@dataclass(frozen=True)
class AnswerTargets:
    """Occurrences that a token can answer: all of one person at one minute, or all in one message."""

    occurrences: Sequence[Occurrence]
    zone: ZoneInfo
    via: AnsweredVia
    #: Name of the dependent, if a caregiver answered by message.
    whom: str = ""


def get_targets(token: str) -> AnswerTargets:
    """Return the occurrences of a token. Nothing is changed, so chat apps may fetch the link for a preview.

    Raise `Gone` 24 hours after the last occurrence fell due. Raise `NotFound` for an unknown token. Do the same if the
    person has requested erasure or has changed the phone number, because other people may have the link.
    """
    by_link, by_push = hash_of(token), hash_of(link_token_of(token))
    asked, zones, is_dependent, now = read(by_link, by_push)
    if max(row.due_at for row in asked) + LIFETIME < now:
        raise Gone(EXPIRED)
    via = AnsweredVia.PUSH if asked[0].link_hash == by_push else AnsweredVia.LINK
    via = AnsweredVia.CAREGIVER if is_dependent else via
    return AnswerTargets(asked, ZoneInfo(zones[0]) if zones else JAKARTA, via)


def read(by_link: str, by_push: str) -> tuple[list[Occurrence], list[str], bool, datetime]:
    """Return the occurrences of a token, their zones, whether the person is a dependent, and the database's time."""
    with current_connection() as connection:
        found = _asked.rows(connection, {"by_link": by_link, "by_push": by_push})
    rows = [row for row in found if row[-2] is not None]
    if not rows:
        raise NotFound(NOT_FOUND)
    asked = [statements.occurrence_of(values) for *values, _, _, _ in rows]
    *_, is_dependent, now = rows[0]
    return asked, [zone for *_, zone, _, _ in rows if zone], is_dependent, now


def answer(token: str, data: QuickAnswer) -> LinkAnswer:
    """Answer the occurrences of a token, as `answers.answer_all` does. The same answer a second time has no effect."""
    asked = get_targets(token)
    first = answers.answer_all(asked.occurrences, data, asked.via)[0]
    return {
        "status": data.status,
        "tipe": first.tipe,
        "due_at": first.due_at,
        "state": first.state,
        "snoozed_until": first.snoozed_until,
    }
