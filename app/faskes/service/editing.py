"""Facilities in an administrator's hands."""

from __future__ import annotations

import secrets

from app.core.database.session import Fields, assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict
from app.faskes.models import DB, MISSING, Faskes
from app.providers import geocoding

TAKEN: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}


def create(data: Fields) -> Faskes:
    """A new facility. Without an id it gets one, without a province that of its position."""
    row = Faskes(**{"id": secrets.token_urlsafe(16), **data, "source": DB})
    if row.province is None:
        row.province = geocoding.province_at(row.lat, row.lng)
    with translating(TAKEN):
        db.session.add(row)
    return row


def edit(faskes_id: str, data: Fields) -> Faskes:
    """Change what `data` names; a facility that moves without a word of its province gets that of its new position."""
    row = get_or_404(Faskes, faskes_id, MISSING)
    assign(row, {**data, "source": DB})
    if data.get("province") is None and data.keys() & {"province", "lat", "lng"}:
        row.province = geocoding.province_at(row.lat, row.lng)
        db.session.flush()
    return row


def delete(faskes_id: str) -> None:
    """Remove a facility; doctors lose it from theirs."""
    db.session.delete(get_or_404(Faskes, faskes_id, MISSING))
