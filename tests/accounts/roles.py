"""Helper that returns the id of a role."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import Role


def role_id(name):
    return db.session.scalars(sa.select(Role.id).where(Role.name == name)).one()
