"""People with accounts of a given age, for tests of the forum."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from tests.forum.posts import report
from tests.helpers.factories import make_user


def aged(client, **age):
    """Return a client of a new person, with an account of this age (arguments of `timedelta`)."""
    user = make_user()
    at = sa.func.now() - timedelta(**age)
    db.session.execute(sa.update(User).where(User.id == user.id).values(created_at=at))
    db.session.commit()
    return client.as_(user)


def report_by_three(client, path, reason="spam"):
    for _ in range(3):
        report(aged(client, days=8), path, reason)
