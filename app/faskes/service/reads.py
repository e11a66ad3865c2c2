"""Reads of facilities. For speed, rows become dicts without the ORM or marshmallow."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from app.core.database.session import records
from app.core.lib.geo import box_around
from app.core.web.pagination import MAX_UNPAGED, Listing, Page, count_all
from app.faskes.models import Faskes, distance_km

Record = dict[str, object]


class Results(Listing[Record]):
    """One page of facilities, wrapped in an object with a status."""

    @property
    def body(self) -> dict[str, object]:
        return {"results": self.rows, "status": "OK" if self.total else "ZERO_RESULTS"}


#: Decimals of `distance_km`, which is rounded to metres.
DECIMALS = 3

COLUMNS = (
    Faskes.id, Faskes.nama, Faskes.alamat, Faskes.lat, Faskes.lng,
    Faskes.jenis, Faskes.telepon, Faskes.province, Faskes.rating, Faskes.source,
)  # fmt: skip


def _param(name: str) -> sa.BindParameter[float]:
    return sa.bindparam(name, type_=sa.Double)


def _around() -> sa.Select[*tuple[object, ...]]:
    """Return the query for facilities in a circle, nearest first.

    The query first uses the index to select the rows in the box (a rectangle around the circle). From these rows, the
    query then selects the rows within the radius.
    """
    corners = (sa.func.point(_param("east"), _param("north")), sa.func.point(_param("west"), _param("south")))
    boxed = (
        sa.select(*COLUMNS, distance_km(_param("lat"), _param("lng")).label("distance_km"))
        .where(sa.func.point(Faskes.lng, Faskes.lat).bool_op("<@")(sa.func.box(*corners)))
        .offset(sa.literal_column("0"))  # without OFFSET, PostgreSQL would compute the distance twice
        .subquery()
    )
    return (
        sa.select(boxed)
        .where(boxed.c.distance_km <= _param("radius_km"))
        .order_by(boxed.c.distance_km, boxed.c.id)
        .limit(sa.literal_column(str(MAX_UNPAGED)))
    )


AROUND = _around()


def circle(lat: float, lng: float, radius_m: float) -> dict[str, float]:
    """Return the parameters of `AROUND` for a circle."""
    box = box_around(lat, lng, radius_m / 1000)
    return {"lat": lat, "lng": lng, "radius_km": radius_m / 1000, **box._asdict()}


def around(lat: float, lng: float, radius_m: float) -> list[Record]:
    """Return facilities within `radius_m` metres, nearest first, at most `MAX_UNPAGED`."""
    found = records(AROUND, circle(lat, lng, radius_m))
    return [{**record, "distance_km": round(record["distance_km"], DECIMALS)} for record in found]


def page_of(rows: Sequence[Record], page: Page) -> Results:
    """Return one page of rows that are already in memory."""
    return Results(rows[page.offset : page.offset + page.size], len(rows), page)


_BY_ID = sa.select(*COLUMNS).where(Faskes.id == sa.bindparam("id"))


def get(faskes_id: str) -> Record | None:
    found = records(_BY_ID, {"id": faskes_id})
    return found[0] if found else None


def list_page(page: Page, *conditions: sa.ColumnElement[bool]) -> Results:
    """Return facilities that match all conditions, newest first."""
    matching = sa.select(*COLUMNS).where(*conditions).order_by(Faskes.created_at.desc(), Faskes.id.desc())
    found = records(matching.limit(page.size).offset(page.offset))
    return Results(found, count_all(matching, page, len(found)), page)
