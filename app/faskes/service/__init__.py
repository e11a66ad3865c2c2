"""Health facilities: found around a position and by name, entered and changed by administrators."""

from __future__ import annotations

import secrets

from app.core.db import Fields, assign, db, get_or_404, reading, translating
from app.core.errors import AppError, Conflict, NotFound, ProviderFailed, ProviderTimeout
from app.core.paging import Listing, Page
from app.core.settings import current
from app.faskes.models import DB, Faskes
from app.faskes.schemas import Around
from app.faskes.service import reads, spots
from app.faskes.service.finding import nearby, store
from app.faskes.service.reads import Record
from app.providers import geocoding, places
from app.providers.http import ProviderError
from app.providers.places import PLACE_ID

__all__ = ["create", "delete", "edit", "get", "list_all", "location", "nearby", "search"]

TAKEN: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}
MISSING = "Fasilitas kesehatan tidak ditemukan."


def list_all(page: Page) -> Listing[Record]:
    with reading() as connection:
        return reads.everything(connection, page)


def location(query: Around) -> Listing[Record]:
    """Facilities in the database alone, nearest first."""
    with reading() as connection:
        return reads.sliced(reads.around(connection, query.lat, query.lng, query.radius_m), query.page)


def search(keyword: str, page: Page) -> Listing[Record]:
    with reading() as connection:
        return reads.search(connection, keyword, page)


def get(faskes_id: str) -> Faskes:
    """One facility; one that is not stored is asked for and kept. Raises `NotFound`, or `ProviderFailed`."""
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(MISSING)
    row = db.session.get(Faskes, faskes_id)
    provider = places.from_config(current())
    if row is not None or provider is None or spots.is_unknown(faskes_id):
        return get_or_404(Faskes, faskes_id, MISSING)
    db.session.rollback()  # nothing is written yet, and no connection waits for the provider
    try:
        place = provider.details(faskes_id)
    except ProviderError as error:
        raise (ProviderTimeout if error.timed_out else ProviderFailed) from error
    if place is None:
        spots.remember_unknown(faskes_id)
        raise NotFound(MISSING)
    store([place])
    return get_or_404(Faskes, place.place_id, MISSING)


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
