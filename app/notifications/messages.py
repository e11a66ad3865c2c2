"""Messages to people, put into the outbox; the worker sends them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.identity.models import User
from app.notifications import outbox
from app.notifications.models import Channel


def send_message(phone: str, text: str, *, kind: str, dedupe_key: str, expires_in: timedelta) -> None:
    """Send a text to one E.164 number, and only to that: when its owner changes it first, nothing is sent.

    Equal `dedupe_key`s are one message.
    """
    user_id = db.session.scalar(sa.select(User.id).where(User.phone == phone))
    message_user(user_id, text, kind=kind, dedupe_key=dedupe_key, expires_in=expires_in, only_to=phone)


def message_user(
    user_id: int | None,
    text: str,
    *,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    only_to: str | None = None,
    about: Sequence[int | None] = (),
) -> None:
    """Send a text to a person, at the number that they have when it is sent, or `only_to` this one.

    Equal `dedupe_key`s are one message. `about` are the ids of the people whom the text names.
    """
    outbox.add(
        outbox.Draft(
            kind=kind,
            channel=Channel.MESSAGING,
            dedupe_key=dedupe_key,
            payload={"text": text, **outbox.naming(*about)},
            expires_at=database_clock.now() + expires_in,
            user_id=user_id,
            target=only_to,
        )
    )


def tell_user(
    user_id: int,
    *,
    text: str,
    title: str,
    body: str,
    kind: str,
    dedupe_key: str,
    expires_in: timedelta,
    about: Sequence[int] = (),
) -> None:
    """Tell a person by message, the `text`, and by push, of `title` and `body`: one of them may not arrive.

    The deliveries' keys are `dedupe_key` with the channel behind it. `about` are the ids of the people who are named.
    """
    payloads = {Channel.MESSAGING: {"text": text}, Channel.PUSH_FAN_OUT: {"title": title, "body": body}}
    outbox.add_all(
        [
            outbox.Draft(
                kind=kind,
                channel=channel,
                dedupe_key=f"{dedupe_key}:{channel}",
                payload={**payload, **outbox.naming(*about)},
                expires_at=database_clock.now() + expires_in,
                user_id=user_id,
            )
            for channel, payload in payloads.items()
        ]
    )
