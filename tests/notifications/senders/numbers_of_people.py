"""Helpers for people's phone numbers that the provider refuses."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications.senders import numbers
from app.notifications.senders.models import phone_numbers


def pass_time(user, **time):
    """Simulate that time passes: move the times of all numbers back."""
    back = timedelta(**time)
    moments = ("last_inbound_at", "refused_at", "wrong_at", "used_at")
    db.session.execute(sa.update(phone_numbers).values({name: phone_numbers.c[name] - back for name in moments}))
    db.session.execute(sa.update(User).values(phone_invalid_at=User.phone_invalid_at - back))


def make_invalid(user):
    numbers.refused(user.phone)
    pass_time(user, hours=24)
    numbers.refused(user.phone)
