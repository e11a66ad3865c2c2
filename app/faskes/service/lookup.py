"""Facilities by position, name or id: from the database first, then from the places provider."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db, unit_of_work
from app.core.errors import NotFound
from app.core.settings import current
from app.core.web.pagination import containing
from app.faskes.models import NOT_FOUND, PLACES, Faskes
from app.faskes.schemas import FaskesFilter, NameQuery, NearbyQuery
from app.faskes.service import reads, search_coverage
from app.faskes.service.reads import Record, Results
from app.providers import geocoding, places
from app.providers.http import ProviderError
from app.providers.places import PLACE_ID, Place

#: Kinds of facilities by a word in the name. If the name has none of these words, the provider's type of the place
#: determines the kind (`_BY_TYPE`).
_BY_NAME = {
    "puskesmas": "puskesmas", "posyandu": "posyandu", "klinik": "klinik", "apotek": "apotek",
    "laboratorium": "laboratorium", "rumah sakit": "rumah_sakit", "rsud": "rumah_sakit", "rsup": "rumah_sakit",
}  # fmt: skip
_BY_TYPE = {
    "hospital": "rumah_sakit", "pharmacy": "apotek", "dentist": "dokter_gigi", "physiotherapist": "fisioterapi",
    "doctor": "praktik_dokter",
}  # fmt: skip


def nearby(query: NearbyQuery) -> Results:
    """Return facilities within the radius, nearest first.

    If the database has no such facility, search the provider. If the provider fails, return no facilities.
    """
    rows = reads.around(query.lat, query.lng, query.radius_m)
    if not rows and (provider := places.from_config(current())) and geocoding.province_at(query.lat, query.lng):
        rows = _searched(provider, query)
    return reads.page_of(rows, query.page)


def _searched(provider: places.Places, query: NearbyQuery) -> list[Record]:
    """Search the provider, and return the stored facilities. No transaction is open during the call.

    If this search may not call the provider, return no facilities, because the caller has found none in the database.
    """
    key = search_coverage.claim(query.lat, query.lng, query.radius_m)
    if key is None:
        return []
    try:
        nearby_places = provider.nearby(query.lat, query.lng, query.radius_m)
        with unit_of_work():
            store(nearby_places)
    except ProviderError:
        search_coverage.release(key)
        return []
    except BaseException:
        search_coverage.release(key)
        raise
    return reads.around(query.lat, query.lng, query.radius_m)


def list_all(search: FaskesFilter) -> Results:
    """Return stored facilities, newest first. `search.q` is a part of the name or address."""
    conditions = []
    if search.q:
        conditions.append(containing(search.q, Faskes.nama, Faskes.alamat))
    if search.jenis:
        conditions.append(Faskes.jenis == search.jenis)
    if search.province:
        conditions.append(Faskes.province == search.province)
    return reads.list_page(search.page, *conditions)


def location(query: NearbyQuery) -> Results:
    """Return stored facilities within the radius, nearest first."""
    return reads.page_of(reads.around(query.lat, query.lng, query.radius_m), query.page)


def search(query: NameQuery) -> Results:
    """Return stored facilities with the keyword in their name, newest first."""
    return reads.list_page(query.page, containing(query.keyword, Faskes.nama))


def get(faskes_id: str) -> Record:
    """Return one stored facility, or raise `NotFound`."""
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(NOT_FOUND)
    record = reads.get(faskes_id)
    if record is None:
        raise NotFound(NOT_FOUND)
    return record


def store(provider_places: Iterable[Place]) -> None:
    """Insert or update the provider's places. Records that an administrator changed stay unchanged."""
    rows = [
        {
            "id": place.place_id,
            "nama": place.name,
            "alamat": place.address,
            "lat": place.lat,
            "lng": place.lng,
            "jenis": kind_of(place),
            "province": geocoding.province_at(place.lat, place.lng),
            "rating": place.rating,
            "source": PLACES,
        }
        for place in sorted(provider_places, key=lambda place: place.place_id)  # a fixed order prevents deadlocks
    ]
    if not rows:
        return
    new = insert(Faskes).values(rows)
    refreshed = {name: new.excluded[name] for name in ("nama", "alamat", "lat", "lng", "jenis", "province", "rating")}
    db.session.execute(
        new.on_conflict_do_update(
            index_elements=[Faskes.id],
            set_={**refreshed, "updated_at": sa.func.now()},
            where=Faskes.source == PLACES,
        )
    )


def kind_of(place: Place) -> str | None:
    """Return this service's kind of a facility, for example `apotek`, or None if the kind is unknown."""
    name = place.name.lower()
    by_name = (kind for word, kind in _BY_NAME.items() if word in name)
    by_type = (kind for word, kind in _BY_TYPE.items() if word in place.types)
    return next(by_name, None) or next(by_type, None)
