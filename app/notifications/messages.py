"""Messages to people, put into the outbox; the worker sends them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.identity.models import User
from app.notifications import outbox
from app.notifications.models import About, Channel


def send_message(
    phone: str,
    *,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    due_at: datetime | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Send a message to one E.164 number, and only to that: when its owner changes it first, nothing is sent.

    It leaves at `due_at`, or at once. Equal `dedupe_key`s are one message.
    """
    user_id = db.session.scalar(sa.select(User.id).where(User.phone == phone))
    message_user(
        user_id,
        kind=kind,
        dedupe_key=dedupe_key,
        expires_in=expires_in,
        only_to=phone,
        due_at=due_at,
        payload=payload,
    )


def message_user(
    user_id: int | None,
    text: str | None = None,
    *,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    only_to: str | None = None,
    due_at: datetime | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Send a message to a person, at the number that they have when it is sent, or `only_to` this one.

    A `text` exists only once, and is encrypted until it is sent. Without a text the words are read then, by the kind.
    Equal `dedupe_key`s are one message.
    """
    outbox.add(
        outbox.Draft(
            kind=kind,
            channel=Channel.MESSAGING,
            dedupe_key=dedupe_key,
            payload=payload or {},
            words=None if text is None else {"text": text},
            due_at=due_at,
            expires_at=(due_at or database_clock.now()) + expires_in,
            user_id=user_id,
            target=only_to,
        )
    )


def tell_user(
    user_id: int,
    *,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    about: About | None = None,
    due_at: datetime | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Tell a person by message and by push, for one of them may not arrive.

    The deliveries' keys are `dedupe_key` with the channel behind it.
    """
    outbox.add_all(
        [
            outbox.Draft(
                kind=kind,
                channel=channel,
                dedupe_key=f"{dedupe_key}:{channel}",
                payload=payload or {},
                due_at=due_at,
                expires_at=(due_at or database_clock.now()) + expires_in,
                user_id=user_id,
                about=about,
            )
            for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT)
        ]
    )
