"""Facilities near a position: from the database first, then from the paid places provider."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from redis.exceptions import RedisError
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.lib import local_time
from app.core.settings import current, settings
from app.faskes.models import PLACES, Faskes
from app.faskes.schemas import NearbyQuery
from app.faskes.service import facilities
from app.faskes.service.facilities import Results, Row
from app.providers import geocoding, places
from app.providers.http import ProviderError
from app.providers.places import Place

logger = logging.getLogger(__name__)

#: Seconds after a search in which no other search of this cell and radius calls the provider.
LIFETIME_S = 4 * 3600

#: Degrees of a cell. This is 1 km from south to north, and in Indonesia nearly 1 km from west to east.
CELL = 0.009

#: Seconds until a day's counter is deleted.
DAY_S = 86_400

#: Kinds of facilities by a word in the name. If the name has none of these words, the provider's type of the place
#: determines the kind (`BY_TYPE`).
BY_NAME = {
    "puskesmas": "puskesmas", "posyandu": "posyandu", "klinik": "klinik", "apotek": "apotek",
    "laboratorium": "laboratorium", "rumah sakit": "rumah_sakit", "rsud": "rumah_sakit", "rsup": "rumah_sakit",
}  # fmt: skip
BY_TYPE = {
    "hospital": "rumah_sakit", "pharmacy": "apotek", "dentist": "dokter_gigi", "physiotherapist": "fisioterapi",
    "doctor": "praktik_dokter",
}  # fmt: skip


def nearby(query: NearbyQuery) -> Results:
    """Return facilities within the radius, nearest first.

    If the database has no such facility, search the provider. If the provider fails, return no facilities.
    """
    rows = facilities.around(query.lat, query.lng, query.radius_m)
    if not rows and (provider := places.from_config(current())) and geocoding.province_at(query.lat, query.lng):
        rows = _searched(provider, query)
    return facilities.page_of(rows, query.page)


def _searched(provider: places.Places, query: NearbyQuery) -> Sequence[Row]:
    """Search the provider, and return the stored facilities. No transaction is open during the call.

    If this request may not call the provider, return no facilities, because the database has none.
    """
    key = _claim(query)
    if key is None:
        return []
    is_stored = False
    try:
        found = provider.nearby(query.lat, query.lng, query.radius_m)
        with unit_of_work():
            store(found)
        is_stored = True
    except ProviderError:
        return []
    finally:
        if not is_stored:
            _release(key)
    return facilities.around(query.lat, query.lng, query.radius_m)


def _claim(query: NearbyQuery) -> str | None:
    """Return a key if this request must call the provider, otherwise None.

    Without Redis nobody calls the provider, because nothing would bound the cost.
    """
    key = f"faskes:{math.floor(query.lat / CELL)}:{math.floor(query.lng / CELL)}:{query.radius_m}"
    counter = f"faskes:searches:{local_time.today()}"
    try:
        redis = queue.connection()
        if not redis.set(key, 1, ex=LIFETIME_S, nx=True):
            return None
        searches = redis.incr(counter)
        redis.expire(counter, DAY_S)
    except RedisError as error:
        logger.warning("facilities from the database alone: %s", type(error).__name__)
        return None
    if searches > settings.places_per_day:
        _release(key)
        return None
    return key


def _release(key: str) -> None:
    """Delete a claim, so that the next search may call the provider."""
    try:
        queue.connection().delete(key)
    except RedisError as error:
        logger.warning("a failed search blocks its cell: %s", type(error).__name__)


def store(found: Iterable[Place]) -> None:
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
        for place in sorted(found, key=lambda place: place.place_id)  # a fixed order prevents deadlocks
    ]
    if not rows:
        return
    new = insert(Faskes).values(rows)
    refreshed = {name: new.excluded[name] for name in rows[0] if name not in ("id", "source")}
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
    by_name = (kind for word, kind in BY_NAME.items() if word in name)
    by_type = (kind for word, kind in BY_TYPE.items() if word in place.types)
    return next(by_name, None) or next(by_type, None)
