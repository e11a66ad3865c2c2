"""Facilities by position, name or id: the database first, the places provider where it holds nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import after_commit, autocommit, db, on_rollback
from app.core.errors import NotFound, ProviderFailed, ProviderTimeout
from app.core.settings import current
from app.core.web.pagination import Listing, Page
from app.faskes.models import MISSING, PLACES, Faskes
from app.faskes.schemas import Around
from app.faskes.service import reads, search_coverage
from app.faskes.service.reads import Record
from app.providers import places
from app.providers.geocoding import Offline
from app.providers.http import ProviderError
from app.providers.places import PLACE_ID, Place

#: What the name says, then what the provider's types say.
_BY_NAME = {
    "puskesmas": "puskesmas", "posyandu": "posyandu", "klinik": "klinik", "apotek": "apotek",
    "laboratorium": "laboratorium", "rumah sakit": "rumah_sakit", "rsud": "rumah_sakit", "rsup": "rumah_sakit",
}  # fmt: skip
_BY_TYPE = {
    "hospital": "rumah_sakit", "pharmacy": "apotek", "dentist": "dokter_gigi", "physiotherapist": "fisioterapi",
    "doctor": "praktik_dokter",
}  # fmt: skip


def nearby(query: Around) -> Listing[Record]:
    """Facilities within the radius, nearest first. A provider that fails leaves what the database has."""
    with autocommit() as connection:
        rows = reads.around(connection, query.lat, query.lng, query.radius_m)
    if not rows and (provider := places.from_config(current())):
        rows = _searched(provider, query)
    return reads.sliced(rows, query.page)


def _searched(provider: places.Places, query: Around) -> list[Record]:
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


def list_all(page: Page) -> Listing[Record]:
    with autocommit() as connection:
        return reads.everything(connection, page)


def location(query: Around) -> Listing[Record]:
    """Facilities in the database alone, nearest first."""
    with autocommit() as connection:
        return reads.sliced(reads.around(connection, query.lat, query.lng, query.radius_m), query.page)


def search(keyword: str, page: Page) -> Listing[Record]:
    with autocommit() as connection:
        return reads.search(connection, keyword, page)


def get(faskes_id: str) -> Record:
    """One facility; one that is not stored is asked for and kept. Raises `NotFound`, or `ProviderFailed`."""
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(MISSING)
    with autocommit() as connection:
        record = reads.one(connection, faskes_id)
    return record or _asked(faskes_id)


def _asked(faskes_id: str) -> Record:
    """What the provider says of a place that is not stored, now stored."""
    provider = places.from_config(current())
    if provider is None or search_coverage.is_unknown(faskes_id):
        raise NotFound(MISSING)
    try:
        place = provider.details(faskes_id)
    except ProviderError as error:
        raise (ProviderTimeout if error.timed_out else ProviderFailed) from error
    if place is None:
        search_coverage.remember_unknown(faskes_id)
        raise NotFound(MISSING)
    store([place])
    record = reads.one(db.session.connection(), place.place_id)
    if record is None:
        raise NotFound(MISSING)
    return record


def store(found: Iterable[Place]) -> None:
    """Keep what the provider found; a record that an administrator has made the service's own stays as it is."""
    geocoder = Offline()  # sixty questions: not for a remote one
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
        for place in sorted(found, key=lambda place: place.place_id)  # one order, so that two never wait in a ring
    ]
    if not rows:
        return
    new = insert(Faskes).values(rows)
    kept_if_missing = {name: sa.func.coalesce(new.excluded[name], Faskes.__table__.c[name]) for name in ("telepon",)}
    refreshed = {name: new.excluded[name] for name in ("nama", "alamat", "lat", "lng", "jenis", "province", "rating")}
    db.session.execute(
        new.on_conflict_do_update(
            index_elements=[Faskes.id],
            set_={**refreshed, **kept_if_missing, "updated_at": sa.func.now()},
            where=Faskes.source == PLACES,
        )
    )


def kind_of(place: Place) -> str | None:
    """The facility's kind in the service's words."""
    name = place.name.lower()
    by_name = (kind for word, kind in _BY_NAME.items() if word in name)
    by_type = (kind for word, kind in _BY_TYPE.items() if word in place.types)
    return next(by_name, None) or next(by_type, None)
