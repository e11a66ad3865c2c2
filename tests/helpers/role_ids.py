"""Ids of roles."""

from app.identity.roles import roles_named


def role_ids(*names):
    return [role.id for role in roles_named(names)]


def role_id(name):
    return role_ids(name)[0]
