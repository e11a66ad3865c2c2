"""Facilities by position, name or id: the database first, the places provider where it holds nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import after_commit, autocommit, db, on_rollback
from app.core.errors import NotFound
from app.core.settings import current
from app.faskes.models import NOT_FOUND, PLACES, Faskes
from app.faskes.schemas import FaskesFilter, NameQuery, NearbyQuery
from app.faskes.service import reads, search_coverage
from app.faskes.service.reads import Record, Results
from app.providers import places
from app.providers.errors import answering
from app.providers.geocoding import Offline
from app.providers.http import ProviderError
from app.providers.places import PLACE_ID, Place

#: A facility's kind by a word in its name and, where there is none, by the provider's types.
_BY_NAME = {
    "puskesmas": "puskesmas", "posyandu": "posyandu", "klinik": "klinik", "apotek": "apotek",
    "laboratorium": "laboratorium", "rumah sakit": "rumah_sakit", "rsud": "rumah_sakit", "rsup": "rumah_sakit",
}  # fmt: skip
_BY_TYPE = {
    "hospital": "rumah_sakit", "pharmacy": "apotek", "dentist": "dokter_gigi", "physiotherapist": "fisioterapi",
    "doctor": "praktik_dokter",
}  # fmt: skip


def nearby(query: NearbyQuery) -> Results:
    """Facilities within the radius, nearest first. A provider that fails leaves what the database has."""
    with autocommit() as connection:
        rows = reads.around(connection, query.lat, query.lng, query.radius_m)
    if not rows and (provider := places.from_config(current())):
        rows = _searched(provider, query)
    return reads.page_of(rows, query.page)


def _searched(provider: places.Places, query: NearbyQuery) -> list[Record]:
    """What the database holds once the provider was asked, by this request or by another one just now."""
    circle = search_coverage.claim(query.lat, query.lng, query.radius_m)
    if circle.state is search_coverage.State.COVERED:
        return []
    if circle.state is search_coverage.State.ASKING:
        search_coverage.wait(circle)
        with autocommit() as connection:
            return reads.around(connection, query.lat, query.lng, query.radius_m)
    on_rollback(partial(search_coverage.release, circle))
    try:
        nearby_places = provider.nearby(query.lat, query.lng, query.radius_m)
    except ProviderError:
        search_coverage.release(circle)
        return []
    store(nearby_places)
    # Not before the commit: the requests that wait for this one read the rows as soon as the circle is covered.
    after_commit(partial(search_coverage.mark_covered, circle))
    return reads.around(db.session.connection(), query.lat, query.lng, query.radius_m)


def list_all(search: FaskesFilter) -> Results:
    """Facilities in the database, newest first; `search.q` is a part of name or address."""
    narrowing = {"q": search.q, "jenis": search.jenis, "province": search.province}
    with autocommit() as connection:
        return reads.list_page(connection, search.page, **{name: text for name, text in narrowing.items() if text})


def location(query: NearbyQuery) -> Results:
    """Facilities in the database alone, nearest first."""
    with autocommit() as connection:
        return reads.page_of(reads.around(connection, query.lat, query.lng, query.radius_m), query.page)


def search(query: NameQuery) -> Results:
    """Facilities in the database whose name contains the keyword, newest first."""
    with autocommit() as connection:
        return reads.list_page(connection, query.page, nama=query.keyword)


def get(faskes_id: str) -> Record:
    """One facility; one that is not stored is asked for at the provider and stored.

    Raises `NotFound`, `ProviderFailed` or `ProviderTimeout`.
    """
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(NOT_FOUND)
    with autocommit() as connection:
        record = reads.get(connection, faskes_id)
    return record or _fetched(faskes_id)


def _fetched(faskes_id: str) -> Record:
    """A place that was not stored, as the provider knows it; it is stored now."""
    provider = places.from_config(current())
    if provider is None or search_coverage.is_unknown(faskes_id):
        raise NotFound(NOT_FOUND)
    with answering():
        place = provider.details(faskes_id)
    if place is None:
        search_coverage.remember_unknown(faskes_id)
        raise NotFound(NOT_FOUND)
    store([place])
    record = reads.get(db.session.connection(), place.place_id)
    if record is None:
        raise NotFound(NOT_FOUND)
    return record


def store(provider_places: Iterable[Place]) -> None:
    """Insert or refresh the provider's places; a record that an administrator changed stays as it is."""
    geocoder = Offline()  # up to sixty positions: too many calls for a remote one
    rows = [
        {
            "id": place.place_id,
            "nama": place.name,
            "alamat": place.address,
            "lat": place.lat,
            "lng": place.lng,
            "jenis": kind_of(place),
            "telepon": place.phone,
            "province": geocoder.province_at(place.lat, place.lng),
            "rating": place.rating,
            "source": PLACES,
        }
        for place in sorted(provider_places, key=lambda place: place.place_id)  # one order: no deadlocks
    ]
    if not rows:
        return
    new = insert(Faskes).values(rows)
    refreshed = {name: new.excluded[name] for name in ("nama", "alamat", "lat", "lng", "jenis", "province", "rating")}
    db.session.execute(
        new.on_conflict_do_update(
            index_elements=[Faskes.id],
            set_={
                **refreshed,
                "telepon": sa.func.coalesce(new.excluded.telepon, Faskes.telepon),  # no search has phone numbers
                "updated_at": sa.func.now(),
            },
            where=Faskes.source == PLACES,
        )
    )


def kind_of(place: Place) -> str | None:
    """The facility's kind, as the service names it; None for an unknown one."""
    name = place.name.lower()
    by_name = (kind for word, kind in _BY_NAME.items() if word in name)
    by_type = (kind for word, kind in _BY_TYPE.items() if word in place.types)
    return next(by_name, None) or next(by_type, None)
