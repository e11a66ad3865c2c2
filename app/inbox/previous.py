"""Earlier messages of the same sender: the earlier version of an edited message, an earlier reaction, a repeated text.

All versions of a message have the provider's id of the first version as `ref`. Each handled message stores the times
that it meant, and the answers that it recorded. A time is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Inbound, InboundKind, inbound
from app.pengingat.models import Occurrence
from app.pengingat.one_tap.message_answers import Conversation, RemindedTime

#: Maximum age of an earlier message. WhatsApp allows edits for 15 minutes, but providers repeat webhooks for hours.
LATEST = timedelta(days=7)
#: Time after a recorded answer during which the same text repeats this answer.
REPEATED_WITHIN = timedelta(minutes=2)
#: Keys in the payload. `EDITED` is the provider's id of the edited message. `MEANT` contains the ids of the times that
#: the message meant. `RECORDED` contains the time of each recorded answer, by the id of its row.
EDITED, MEANT, RECORDED = "edited", "meant", "recorded"
#: Type of an emoji reaction to a message, and outcome of a reaction that has no effect.
REACTION = "reaction"

_rows = inbound.c


def wrote_at(row: Inbound) -> datetime:
    """Return the provider's time of the message, or the time of receipt if that is earlier: clocks may be wrong."""
    at = row.payload.get("at")
    return min(datetime.fromisoformat(at), row.received_at) if isinstance(at, str) else row.received_at


def earlier_version(row: Inbound) -> Inbound | None:
    """Return the version of this message, or the reaction to the same message, that was handled last."""
    if row.payload.get("type") == REACTION:
        payload, about = _rows.payload, str(row.payload.get("about"))
        return next(iter(list_earlier(row, payload["type"].astext == REACTION, payload["about"].astext == about)), None)
    return next(iter(list_earlier(row, _rows.ref == row.ref)), None) if row.ref else None


def list_recorded(row: Inbound) -> list[Inbound]:
    """Return the messages that recorded an answer in the two minutes before this one was written, newest first.

    Texts that were written within two minutes count in any order, because webhooks may arrive in any order.
    """
    at = wrote_at(row)
    since = at - REPEATED_WITHIN
    earlier = list_earlier(row, _rows.payload.has_key(RECORDED))
    return [
        each
        for each in earlier
        if abs(wrote_at(each) - at) <= REPEATED_WITHIN or (each.handled_at and since <= each.handled_at <= at)
    ]


def list_earlier(row: Inbound, *which: sa.ColumnElement[bool]) -> Sequence[Inbound]:
    """Return the sender's last ten earlier messages that satisfy the conditions, newest first."""
    earlier = sa.select(Inbound).where(
        _rows.phone == row.phone,
        _rows.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
        _rows.received_at > row.received_at - LATEST,
        _rows.id < row.id,
        *which,
    )
    return db.session.scalars(earlier.order_by(_rows.id.desc()).limit(10)).all()


def is_outdated(row: Inbound, earlier: Inbound) -> bool:
    """Return whether the earlier handled version is the later one, because webhooks may arrive in any order."""
    is_first = EDITED not in row.payload and row.payload.get("type") != REACTION
    return is_first or wrote_at(row) < wrote_at(earlier)


def meant(row: Inbound) -> Collection[int]:
    """Return the ids of the times that the message meant."""
    ids = row.payload.get(MEANT)
    return ids if isinstance(ids, list) else []


def remember(row: Inbound, quoted: str | None, asked: Conversation, recorded: Sequence[Occurrence]) -> None:
    """Store what this message meant and recorded, for an edit or a repeat."""
    if asked.times:
        answers = {str(each.id): each.answered_at.isoformat() for each in recorded if each.answered_at}
        ids = [time.row.id for time in asked.times]
        row.payload = {**row.payload, MEANT: ids, "about": quoted, **({RECORDED: answers} if answers else {})}


def standing(row: Inbound | None, asked: Conversation) -> list[RemindedTime]:
    """Return the times with the answers that this message recorded and that still stand."""
    recorded = row.payload.get(RECORDED) if row else None
    if not isinstance(recorded, dict):
        return []
    times = ((asked.known.get(int(id_)), datetime.fromisoformat(at)) for id_, at in recorded.items())
    return [time for time, at in times if time and time.is_answered and time.row.answered_at == at]
