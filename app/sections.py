"""The sections of the specification, in its order: every package below that has routes."""

from __future__ import annotations

from app.accounts import routes as accounts
from app.caregivers import routes as caregivers
from app.core.api import Blueprint
from app.kategori import routes as kategori
from app.logs import routes as logs
from app.notifications import broadcasts  # noqa: F401  # no routes, but work for the clock and the drains
from app.pengingat import routes as pengingat
from app.push import routes as push
from app.roles import routes as roles


def blueprints() -> list[Blueprint]:
    """The sections' blueprints; their models come along with the imports, so that migrations see every table."""
    sections = (accounts, caregivers, roles, kategori, pengingat, push, logs)
    return [section.bp for section in sections]
