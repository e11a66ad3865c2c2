"""Broadcasts: what happened that many may want to hear of. The row written here is all that the request does."""

from __future__ import annotations

import secrets
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.core.db import db
from app.core.settings import settings
from app.notifications import outbox
from app.notifications.models import Broadcast


def announce(
    *, kind: str, subject: str, text: str, preference_tag: str | None = None, except_user_id: int | None = None
) -> None:
    """Tell everybody with `preference_tag` (None: everybody) of `subject`, once, after a random delay.

    Not `except_user_id`, who knows already. `text` is final: it must not name who wants to stay unnamed.
    """
    shortest, longest = settings.broadcast_delay_seconds
    delay = timedelta(seconds=shortest + secrets.randbelow(longest - shortest + 1))
    db.session.execute(
        insert(Broadcast)
        .values(
            kind=kind,
            subject=subject,
            text=text,
            preference_tag=preference_tag,
            except_user_id=except_user_id,
            starts_at=clock.now() + delay,
        )
        .on_conflict_do_nothing(index_elements=[Broadcast.subject])
    )


def withdraw(subject: str) -> None:
    """Take a broadcast back: what of it has not gone out stays."""
    db.session.execute(sa.delete(Broadcast).where(Broadcast.subject == subject))
    outbox.cancel(subject)
