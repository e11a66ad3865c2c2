"""Answers by one tap, without a login: by the link of a message, or from a push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import Gone, NotFound
from app.core.lib.clock import JAKARTA
from app.identity import erasure
from app.identity.models import User
from app.pengingat import answers
from app.pengingat.ledger_schemas import LinkAnswer, QuickAnswer
from app.pengingat.models import AnsweredVia, Occurrence, Pengingat
from app.pengingat.tokens import hash_of, link_token_of

#: How long after an occurrence fell due its link is of use.
LIFETIME = timedelta(hours=24)

NOT_FOUND = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
EXPIRED = "Tautan ini sudah tidak berlaku."


@dataclass(frozen=True)
class Asked:
    """What a token is about: what its person was reminded of at one minute, or by one message."""

    occurrences: Sequence[Occurrence]
    zone: ZoneInfo
    via: AnsweredVia


def look(token: str) -> Asked:
    """What a token asks; it changes nothing, however often it is previewed. `NotFound`, or `Gone` after a day.

    While its person is leaving it is not known either: a message is seen by others, too.
    """
    by_link, by_push = hash_of(token), hash_of(link_token_of(token))
    rows = db.session.execute(
        sa.select(Occurrence, Pengingat.timezone, database_clock.now_sql())
        .join(User, sa.and_(User.id == Occurrence.user_id, erasure.IS_PRESENT))
        .outerjoin(Pengingat, Pengingat.id == Occurrence.reminder_id)
        .where(sa.or_(Occurrence.link_hash.in_([by_link, by_push]), Occurrence.shared_links.contains([by_link])))
        .order_by(Occurrence.due_at, Occurrence.id)
    ).all()
    if not rows:
        raise NotFound(NOT_FOUND)
    occurrences, now = [row for row, _, _ in rows], rows[0][2]
    if max(row.due_at for row in occurrences) + LIFETIME < now:
        raise Gone(EXPIRED)
    zones = [zone for _, zone, _ in rows if zone]
    via = AnsweredVia.PUSH if occurrences[0].link_hash == by_push else AnsweredVia.LINK
    return Asked(occurrences, ZoneInfo(zones[0]) if zones else JAKARTA, via)


def answer(token: str, data: QuickAnswer) -> LinkAnswer:
    """Answer what is open of a token, as `answers.answer_all` does. The same answer again changes nothing."""
    asked = look(token)
    first = answers.answer_all(asked.occurrences, data, asked.via)[0]
    return {
        "status": data.status,
        "tipe": first.tipe,
        "due_at": first.due_at,
        "state": first.state,
        "snoozed_until": first.snoozed_until,
    }
