"""Stored facilities: reads for everybody, and changes by administrators."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors, records
from app.core.errors import AppError, Conflict, NotFound
from app.core.lib.geo import box_around
from app.core.web.fields import Loaded
from app.core.web.pagination import MAX_UNPAGED, Listing, Page, containing, count_all
from app.faskes.models import DB, Faskes, distance_km, faskes
from app.faskes.schemas import FaskesFilter, NearbyQuery
from app.providers import geocoding
from app.providers.places import PLACE_ID

Record = dict[str, Any]
Row = sa.Row[*tuple[Any, ...]]

NOT_FOUND = "Fasilitas kesehatan tidak ditemukan."
CONSTRAINTS: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}

#: Decimals of `distance_km`, which is rounded to metres.
DECIMALS = 3

COLUMNS = tuple(
    faskes.c[name]
    for name in ("id", "nama", "alamat", "lat", "lng", "jenis", "telepon", "province", "rating", "source")
)


class Results(Listing[Record]):
    """One page of facilities, wrapped in an object with a status."""

    @property
    def body(self) -> dict[str, object]:
        return {"results": self.rows, "status": "OK" if self.total else "ZERO_RESULTS"}


_LAT, _LNG, _RADIUS_KM, _SOUTH, _WEST, _NORTH, _EAST = (
    sa.bindparam(name, type_=sa.Float) for name in ("lat", "lng", "radius_km", "south", "west", "north", "east")
)
_distance = distance_km(_LAT, _LNG)
_box = sa.func.box(sa.func.point(_EAST, _NORTH), sa.func.point(_WEST, _SOUTH))
#: Facilities in a circle, nearest first. An index finds the box around them. The values are those of `circle`.
CIRCLE = (
    sa.select(*COLUMNS, _distance.label("distance_km"))
    .where(sa.func.point(faskes.c.lng, faskes.c.lat).bool_op("<@")(_box), _distance <= _RADIUS_KM)
    .order_by("distance_km", faskes.c.id)
    .limit(MAX_UNPAGED)
)
_NAMES = tuple(CIRCLE.selected_columns.keys())


def circle(lat: float, lng: float, radius_m: float) -> dict[str, float]:
    """Return the values of `CIRCLE` for the facilities within `radius_m` metres."""
    radius_km = radius_m / 1000
    return {"lat": lat, "lng": lng, "radius_km": radius_km, **box_around(lat, lng, radius_km)._asdict()}


def around(lat: float, lng: float, radius_m: float) -> Sequence[Row]:
    """Return facilities within `radius_m` metres, nearest first, at most `MAX_UNPAGED`."""
    return db.session.execute(CIRCLE, circle(lat, lng, radius_m)).all()


def page_of(rows: Sequence[Row], page: Page) -> Results:
    """Return one page of rows that are already in memory."""
    shown = rows[page.offset : page.offset + page.size]
    records = [dict(zip(_NAMES, row, strict=True)) | {"distance_km": round(row.distance_km, DECIMALS)} for row in shown]
    return Results(records, len(rows), page)


def location(query: NearbyQuery) -> Results:
    """Return stored facilities within the radius, nearest first."""
    return page_of(around(query.lat, query.lng, query.radius_m), query.page)


def search(keyword: str, page: Page) -> Results:
    """Return facilities with the keyword in their name, newest first."""
    return _list(page, containing(keyword, faskes.c.nama))


def list_all(search: FaskesFilter) -> Results:
    """Return facilities, newest first. `search.q` is a part of the name or address."""
    conditions = []
    if search.q:
        conditions.append(containing(search.q, faskes.c.nama, faskes.c.alamat))
    if search.province is not None:
        conditions.append(faskes.c.province == search.province)
    return _list(search.page, *conditions)


_NEWEST_FIRST = sa.select(*COLUMNS).order_by(faskes.c.created_at.desc(), faskes.c.id.desc())


def _list(page: Page, *conditions: sa.ColumnElement[bool]) -> Results:
    matching = _NEWEST_FIRST.where(*conditions)
    found = records(matching.limit(page.size).offset(page.offset))
    return Results(found, count_all(matching, page, len(found)), page)


def get(faskes_id: str) -> Faskes:
    """Return one stored facility, or raise `NotFound`."""
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(NOT_FOUND)
    return get_or_404(Faskes, faskes_id, NOT_FOUND)


def create(data: Loaded) -> Faskes:
    """Store a new facility. Create a random id if the id is missing."""
    facility = Faskes(**{"id": secrets.token_urlsafe(16), **data, "source": DB})
    if facility.province is None:
        facility.province = geocoding.province_at(facility.lat, facility.lng)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(facility)
    return facility


def update(faskes_id: str, data: Loaded) -> Faskes:
    """Update the given fields, and set `source` to `db` so that searches do not overwrite the record.

    Derive a missing province from the position, if the request moves the facility or sets the province to null.
    """
    facility = get_locked_or_404(Faskes, faskes_id, NOT_FOUND, key_share=True)
    assign(facility, {**data, "source": DB})
    if data.get("province") is None and data.keys() & {"province", "lat", "lng"}:
        facility.province = geocoding.province_at(facility.lat, facility.lng)
        db.session.flush()
    return facility


def delete(faskes_id: str) -> None:
    """Delete a facility, and remove it from the doctors who practise there."""
    db.session.delete(get_locked_or_404(Faskes, faskes_id, NOT_FOUND))
