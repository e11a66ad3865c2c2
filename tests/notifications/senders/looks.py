"""Helpers that read the sender and its deliveries, and simulate that time passes."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import connection
from app.notifications.models import Delivery, deliveries
from app.notifications.senders import sender_status
from app.notifications.senders.models import senders as table


def sender():
    return sender_status.current()


def pass_time(**time):
    """Simulate that time passes: move the times of the sender and of all deliveries back."""
    back = timedelta(**time)
    redis = connection()
    if back >= timedelta(minutes=1):
        redis.delete(*redis.keys("*sender.try*"), "none")
    if back >= timedelta(seconds=sender_status.REFUSED_S):
        redis.delete(sender_status.REFUSED)
    with unit_of_work():
        moments = ("since", "checked_at")
        db.session.execute(sa.update(table).values({name: table.c[name] - back for name in moments}))
        rows = deliveries.c
        moments = ("due_at", "next_try_at", "expires_at", "settled_at")
        db.session.execute(sa.update(deliveries).values({name: rows[name] - back for name in moments}))


def rows():
    db.session.expire_all()
    return db.session.scalars(sa.select(Delivery).order_by(Delivery.id)).all()


def sends(sim):
    return sum(call.path.endswith("/messages") for call in sim.messaging.calls)


def sends_of_fonnte(sim):
    return sum(call.path == "/send" for call in sim.messaging.calls)
