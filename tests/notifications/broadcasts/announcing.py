"""Helpers that announce a broadcast and return its recipients, and a clock that a test sets."""

from datetime import UTC, datetime

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.broadcasts import service as broadcasts
from app.notifications.models import About, Broadcast, Delivery

#: Noon in Jakarta.
NOON = datetime(2026, 3, 2, 5, 0, tzinfo=UTC)


class Time:
    now = NOON


def announce(article_id=1, **fields):
    with unit_of_work():
        broadcasts.announce(About("article", article_id), **fields)
    found = db.session.scalars(sa.select(Broadcast).filter_by(about_id=article_id)).one()
    return found.id


def change(act, article_id=1):
    """Hold, release or withdraw the broadcast about an article."""
    with unit_of_work():
        act(About("article", article_id))


def recipients(article_id=1):
    about = outbox.is_about(About("article", article_id))
    return set(db.session.scalars(sa.select(Delivery.user_id).where(about)))
