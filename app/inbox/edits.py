"""Edited messages. An edit corrects what the earlier version of the same message recorded.

All versions of a message have the provider's id of the first version as `ref`. Each handled version stores the times
that it meant, and the answers that it recorded. A time is one due time of a reminder.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Conflict
from app.notifications.models import Inbound, InboundKind, inbound
from app.pengingat.models import Occurrence
from app.pengingat.one_tap import message_answers

#: Maximum age of an earlier version. WhatsApp allows edits for 15 minutes, but providers repeat webhooks for hours.
LATEST = timedelta(days=7)
#: Keys in the payload. `EDITED` is the provider's id of the edited message. `MEANT` contains the ids of the times that
#: the message meant. `RECORDED` contains the time of each recorded answer, by the id of its row.
EDITED, MEANT, RECORDED = "edited", "meant", "recorded"

_rows = inbound.c


def earlier_version(row: Inbound) -> Inbound | None:
    """Return the version of this message that was handled last, or None if this is the first version."""
    if row.ref is None:
        return None
    earlier = (
        sa.select(Inbound)
        .where(
            _rows.phone == row.phone,
            _rows.kind == sa.literal_column(f"'{InboundKind.MESSAGE}'"),
            _rows.received_at > row.received_at - LATEST,
            _rows.ref == row.ref,
            _rows.id < row.id,
        )
        .order_by(_rows.id.desc())
        .limit(1)
    )
    return db.session.scalar(earlier)


def is_outdated(row: Inbound, earlier: Inbound) -> bool:
    """Return whether a later version was handled before this one, because webhooks may arrive in any order."""
    written_at = str(earlier.payload.get("at", ""))
    return EDITED not in row.payload or written_at > str(row.payload.get("at", written_at))


def meant(row: Inbound) -> Collection[int]:
    """Return the ids of the times that the message meant."""
    ids = row.payload.get(MEANT)
    return frozenset(ids) if isinstance(ids, list) else frozenset()


def remember(
    row: Inbound, quoted: str | None, times: Sequence[message_answers.RemindedTime], news: Sequence[Occurrence]
) -> None:
    """Store what this version meant and recorded, for a later edit."""
    if row.ref is None or not times:
        return
    ids = [answer.id for answer in news] or [time.row.id for time in times]
    recorded = {str(answer.id): answer.answered_at.isoformat() for answer in news if answer.answered_at}
    row.payload = {**row.payload, MEANT: ids, **({RECORDED: recorded} if recorded else {})}
    if quoted:
        row.payload = {**row.payload, "about": quoted}


def inherit(row: Inbound, earlier: Inbound) -> None:
    """Store what the earlier version meant and recorded, because this version changes nothing."""
    kept = {name: earlier.payload[name] for name in (MEANT, RECORDED, "about") if name in earlier.payload}
    row.payload = {**row.payload, **kept}


def take_back(user_id: int, earlier: Inbound) -> bool:
    """Take back the answers that the earlier version recorded and that still stand. Return whether there were any."""
    recorded = earlier.payload.get(RECORDED)
    if not isinstance(recorded, dict):
        return False
    answered_at = {int(id_): datetime.fromisoformat(at) for id_, at in recorded.items()}
    times = message_answers.list_answered(user_id, answered_at)
    if not times:
        return False
    try:
        with db.session.begin_nested():
            message_answers.undo(times)
    except Conflict:
        return False
    return True
