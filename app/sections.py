"""The sections of the specification, in its order: every package below that has routes."""

from __future__ import annotations

from app.accounts import routes as accounts
from app.admins import routes as admins
from app.caregivers import routes as caregivers
from app.core.api import Blueprint
from app.kategori import routes as kategori
from app.roles import routes as roles
from app.superadmin import routes as superadmin


def blueprints() -> list[Blueprint]:
    """The sections' blueprints; their models come along with the imports, so that migrations see every table."""
    sections = (accounts, caregivers, roles, kategori, admins, superadmin)
    return [section.bp for section in sections]
