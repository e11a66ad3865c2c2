"""Stored facilities: reads for everybody, and changes by administrators."""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors, records
from app.core.errors import AppError, Conflict, NotFound
from app.core.lib.geo import box_around
from app.core.web.fields import Loaded
from app.core.web.pagination import MAX_UNPAGED, Listing, Page, containing, count_all
from app.faskes.models import DB, Faskes, distance_km
from app.faskes.schemas import FaskesFilter, NearbyQuery
from app.providers import geocoding
from app.providers.places import PLACE_ID

Record = dict[str, object]

NOT_FOUND = "Fasilitas kesehatan tidak ditemukan."
CONSTRAINTS: dict[str, AppError] = {"pk_faskes": Conflict("ID fasilitas sudah dipakai.", code="faskes_taken")}

#: Decimals of `distance_km`, which is rounded to metres.
DECIMALS = 3

COLUMNS = (
    Faskes.id, Faskes.nama, Faskes.alamat, Faskes.lat, Faskes.lng,
    Faskes.jenis, Faskes.telepon, Faskes.province, Faskes.rating, Faskes.source,
)  # fmt: skip


class Results(Listing[Record]):
    """One page of facilities, wrapped in an object with a status."""

    @property
    def body(self) -> dict[str, object]:
        return {"results": self.rows, "status": "OK" if self.total else "ZERO_RESULTS"}


def circle(lat: float, lng: float, radius_m: float) -> sa.Select[*tuple[object, ...]]:
    """Return the query for facilities within `radius_m` metres, nearest first. An index finds the box around them."""
    radius_km = radius_m / 1000
    box, distance = box_around(lat, lng, radius_km), distance_km(lat, lng)
    corners = sa.func.box(sa.func.point(box.east, box.north), sa.func.point(box.west, box.south))
    inside = sa.func.point(Faskes.lng, Faskes.lat).bool_op("<@")(corners)
    found = sa.select(*COLUMNS, distance.label("distance_km")).where(inside, distance <= radius_km)
    return found.order_by("distance_km", Faskes.id).limit(MAX_UNPAGED)


def around(lat: float, lng: float, radius_m: float) -> list[Record]:
    """Return facilities within `radius_m` metres, nearest first, at most `MAX_UNPAGED`."""
    found = records(circle(lat, lng, radius_m))
    return [{**record, "distance_km": round(record["distance_km"], DECIMALS)} for record in found]


def page_of(rows: list[Record], page: Page) -> Results:
    """Return one page of rows that are already in memory."""
    return Results(rows[page.offset : page.offset + page.size], len(rows), page)


def location(query: NearbyQuery) -> Results:
    """Return stored facilities within the radius, nearest first."""
    return page_of(around(query.lat, query.lng, query.radius_m), query.page)


def search(keyword: str, page: Page) -> Results:
    """Return facilities with the keyword in their name, newest first."""
    return _list(page, containing(keyword, Faskes.nama))


def list_all(search: FaskesFilter) -> Results:
    """Return facilities, newest first. `search.q` is a part of the name or address."""
    conditions = []
    if search.q:
        conditions.append(containing(search.q, Faskes.nama, Faskes.alamat))
    if search.province is not None:
        conditions.append(Faskes.province == search.province)
    return _list(search.page, *conditions)


def _list(page: Page, *conditions: sa.ColumnElement[bool]) -> Results:
    matching = sa.select(*COLUMNS).where(*conditions).order_by(Faskes.created_at.desc(), Faskes.id.desc())
    found = records(matching.limit(page.size).offset(page.offset))
    return Results(found, count_all(matching, page, len(found)), page)


def get(faskes_id: str) -> Faskes:
    """Return one stored facility, or raise `NotFound`."""
    if not PLACE_ID.fullmatch(faskes_id):
        raise NotFound(NOT_FOUND)
    return get_or_404(Faskes, faskes_id, NOT_FOUND)


def create(data: Loaded) -> Faskes:
    """Store a new facility. Create a random id if the id is missing."""
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
