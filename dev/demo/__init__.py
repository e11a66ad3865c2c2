"""Demo data of `make run`: people to log in as, and content for every page."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from dev.demo import activity, content, forum, people, reminders


def fill() -> str:
    """Add the demo data once, in the open unit of work. Return a message for the developer."""
    if not db.session.scalar(sa.select(sa.exists().where(User.username.in_(people.LOGINS)))):
        # Later parts refer to rows of earlier parts.
        for part in (people, content, forum, reminders, activity):
            part.fill()
    return f"Demo data is there. Log in as {', '.join(people.LOGINS)} with the password {people.PASSWORD}."
