"""Messages for benchmarks, inserted directly into the outbox table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from app.core.database.session import unit_of_work
from app.notifications import outbox
from app.notifications.models import Channel


def add_messages(name: str, dues: Iterable[datetime], *, expires_at: datetime, first_number: int) -> None:
    """Add a message `<name> <n>` for each due time. Each message goes to a different phone number.

    `first_number` is the first phone number, without `+62`.
    """
    with unit_of_work():
        outbox.send(
            *(
                outbox.NewDelivery(
                    kind="bench",
                    channel=Channel.MESSAGING,
                    dedupe_key=f"{name}:{n}",
                    words={"text": f"{name} {n}"},
                    target=f"+62{first_number + n}",
                    due_at=due_at,
                    expires_at=expires_at,
                )
                for n, due_at in enumerate(dues)
            )
        )
