"""Facilities that administrators create, update and delete."""

from __future__ import annotations

import secrets

from app.core.database.session import assign, db, get_locked_or_404, translating
from app.core.errors import AppError, Conflict
from app.core.web.fields import Loaded
from app.faskes.models import DB, NOT_FOUND, Faskes
from app.providers import geocoding

CONSTRAINTS: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}


def create(data: Loaded) -> Faskes:
    """A new facility. Without an id it gets a random one, without a province that of its position."""
    faskes = Faskes(**{"id": secrets.token_urlsafe(16), **data, "source": DB})
    if faskes.province is None:
        faskes.province = geocoding.province_at(faskes.lat, faskes.lng)
    with translating(CONSTRAINTS):
        db.session.add(faskes)
    return faskes


def update(faskes_id: str, data: Loaded) -> Faskes:
    """Change what `data` names, and make the record the service's own.

    A facility that moves, or whose province is set to null, gets the province of its position unless one is sent.
    """
    faskes = get_locked_or_404(Faskes, faskes_id, NOT_FOUND, key_share=True)
    assign(faskes, {**data, "source": DB})
    if data.get("province") is None and data.keys() & {"province", "lat", "lng"}:
        faskes.province = geocoding.province_at(faskes.lat, faskes.lng)
        db.session.flush()
    return faskes


def delete(faskes_id: str) -> None:
    """Remove a facility; doctors lose it from theirs."""
    db.session.delete(get_locked_or_404(Faskes, faskes_id, NOT_FOUND))
