"""Changes to facilities by administrators."""

from __future__ import annotations

import secrets

from app.core.database.session import assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict
from app.core.web.fields import Loaded
from app.faskes.models import DB, NOT_FOUND, Faskes
from app.providers import geocoding

CONSTRAINTS: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}


def create(data: Loaded) -> Faskes:
    """Store a new facility. Create a random id if the id is missing.

    Derive a missing province from the position.
    """
    faskes = Faskes(**{"id": secrets.token_urlsafe(16), **data, "source": DB})
    if faskes.province is None:
        faskes.province = geocoding.province_at(faskes.lat, faskes.lng)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(faskes)
    return faskes


def update(faskes_id: str, data: Loaded) -> Faskes:
    """Update the given fields, and set `source` to `db` so that searches do not overwrite the record.

    Derive a missing province from the position, if the request moves the facility or sets the province to null.
    """
    faskes = get_locked_or_404(Faskes, faskes_id, NOT_FOUND, key_share=True)
    assign(faskes, {**data, "source": DB})
    if data.get("province") is None and data.keys() & {"province", "lat", "lng"}:
        faskes.province = geocoding.province_at(faskes.lat, faskes.lng)
        db.session.flush()
    return faskes


def delete(faskes_id: str) -> None:
    """Delete a facility, and remove it from the doctors who practise there."""
    db.session.delete(get_locked_or_404(Faskes, faskes_id, NOT_FOUND))
