"""Functions that add messages to the outbox. A worker sends the messages from there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import db_time
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
    """Add a message to one E.164 number. The message is sent at `due_at`, or at once.

    If an account has the number now, but has another number when the message is sent, the message fails. Several calls
    with the same `dedupe_key` add only one message.
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
    """Add a message to a person. It goes to the number that the person has when a worker sends the message.

    With `only_to`, the message fails if the person has another number by then. A `text` is stored encrypted. Without
    `text`, the worker reads the text from the database when it sends the message.
    """
    outbox.add(
        outbox.NewDelivery(
            kind=kind,
            channel=Channel.MESSAGING,
            dedupe_key=dedupe_key,
            payload=payload or {},
            words=None if text is None else {"text": text},
            due_at=due_at,
            expires_at=(due_at or db_time.now()) + expires_in,
            user_id=user_id,
            target=only_to,
        )
    )


def notify_user(
    user_id: int,
    *,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    about: About | None = None,
    due_at: datetime | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Notify a person by message and by push, because one of the two may not arrive.

    The `dedupe_key` of the message ends with `:messaging`. The `dedupe_key` of the push ends with `:push_fan_out`.
    """
    outbox.add_all(
        [
            outbox.NewDelivery(
                kind=kind,
                channel=channel,
                dedupe_key=f"{dedupe_key}:{channel}",
                payload=payload or {},
                due_at=due_at,
                expires_at=(due_at or db_time.now()) + expires_in,
                user_id=user_id,
                about=about,
            )
            for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT)
        ]
    )
