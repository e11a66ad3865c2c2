"""Demo data of `make run`: people to log in as, and content for every page.

Every part first checks whether its data exists, so a second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from app.core.database.session import db
from dev.demo import activity, adherence, content, conversations, crowd, forum, moderation, people, places, reminders

#: The order matters, because later parts refer to rows of earlier parts.
PARTS: tuple[Callable[[], None], ...] = (
    people.fill,
    crowd.fill,
    content.fill,
    places.fill,
    conversations.fill,
    forum.fill,
    moderation.fill,
    reminders.fill,
    adherence.fill,
    activity.fill,
)


def fill() -> str:
    """Add the demo data in the open unit of work, and return a message for the developer."""
    for limit in ("idle_in_transaction_session_timeout", "statement_timeout"):
        db.session.execute(sa.text(f"SET LOCAL {limit} = 0"))
    for part in PARTS:
        part()
    return f"Demo data is there. Log in as {', '.join(people.LOGINS)} with the password {people.PASSWORD}."
