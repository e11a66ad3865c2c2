"""Reads of facilities with prepared statements. For speed, rows become dicts without the ORM or marshmallow.

Each function takes the connection as an argument. A search can therefore return rows that the same search has stored
but not committed yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.lib.geo import box_around
from app.core.web.pagination import MAX_UNPAGED, Listing, Page, contains
from app.core.web.search import MAX_COUNTED, MAX_SEARCHED, has_trigram, like, like_among_newest
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


def _in_box(west: str, east: str) -> sa.ColumnElement[bool]:
    corners = (
        sa.func.point(_param(east), _param("north")),
        sa.func.point(_param(west), _param("south")),
    )
    # The subquery hides the values from the planner. Otherwise PostgreSQL would plan the statement again for each
    # search.
    box = sa.select(sa.func.box(*corners)).scalar_subquery()
    return sa.func.point(Faskes.lng, Faskes.lat).bool_op("<@")(box)


def _around(*boxes: sa.ColumnElement[bool]) -> sa.Select[*tuple[object, ...]]:
    """Return the query for facilities in a circle, nearest first.

    The query first uses the index to select the rows in the boxes (rectangles around the circle). From these rows, the
    query then selects the rows within the radius.
    """
    boxed = (
        sa.select(*COLUMNS, distance_km(_param("lat"), _param("lng")).label("distance_km"))
        .where(sa.or_(*boxes))
        .offset(sa.literal_column("0"))  # without OFFSET, PostgreSQL would compute the distance twice
        .subquery()
    )
    return (
        sa.select(boxed)
        .where(boxed.c.distance_km <= _param("radius_km"))
        .order_by(boxed.c.distance_km, boxed.c.id)
        .limit(sa.literal_column(str(MAX_UNPAGED)))
    )


#: Statements by number of boxes. A circle across the antimeridian needs two boxes: one on each side of the
#: antimeridian. Any other circle needs one box.
AROUND = {1: _around(_in_box("west0", "east0")), 2: _around(_in_box("west0", "east0"), _in_box("west1", "east1"))}
_PREPARED_AROUND = {boxes: PreparedStatement(statement) for boxes, statement in AROUND.items()}


def circle(lat: float, lng: float, radius_m: float) -> tuple[int, dict[str, float]]:
    """Return the key in `AROUND` and the parameters for a circle."""
    box = box_around(lat, lng, radius_m / 1000)
    params = {"lat": lat, "lng": lng, "radius_km": radius_m / 1000, "south": box.south, "north": box.north}
    for number, (west, east) in enumerate(box.longitudes):
        params |= {f"west{number}": west, f"east{number}": east}
    return len(box.longitudes), params


def around(connection: sa.Connection, lat: float, lng: float, radius_m: float) -> list[Record]:
    """Return facilities within `radius_m` metres, nearest first, at most `MAX_UNPAGED`."""
    boxes, params = circle(lat, lng, radius_m)
    records = _PREPARED_AROUND[boxes].records(connection, params)
    return [{**record, "distance_km": round(record["distance_km"], DECIMALS)} for record in records]


def page_of(rows: Sequence[Record], page: Page) -> Results:
    """Return one page of rows that are already in memory."""
    return Results(rows[page.offset : page.offset + page.size], len(rows), page)


_BY_ID = PreparedStatement(sa.select(*COLUMNS).where(Faskes.id == sa.bindparam("id")))


def get(connection: sa.Connection, faskes_id: str) -> Record | None:
    records = _BY_ID.records(connection, {"id": faskes_id})
    return records[0] if records else None


_ALL = (
    sa.select(*COLUMNS)
    .order_by(Faskes.created_at.desc(), Faskes.id.desc())
    .limit(sa.bindparam("limit", type_=sa.Integer))
    .offset(sa.bindparam("offset", type_=sa.Integer))
)
_PATTERN = sa.bindparam("pattern", type_=sa.Text)
#: Conditions of a filtered list, by parameter name of `list_page`.
_CONDITIONS = {
    "nama": like(_PATTERN, Faskes.nama),
    "q": like(_PATTERN, Faskes.nama, Faskes.alamat),
    "short_q": like_among_newest(_PATTERN, Faskes.nama, Faskes.alamat, newest_by=Faskes.created_at, most=MAX_SEARCHED),
    "jenis": Faskes.jenis == sa.bindparam("jenis", type_=sa.Text),
    "province": Faskes.province == sa.bindparam("province", type_=sa.Text),
}


@cache
def _list(*names: str) -> tuple[PreparedStatement, PreparedStatement]:
    """Return the statements for a page and for its total. The total of a filtered list stops at `MAX_COUNTED`."""
    conditions = [_CONDITIONS[name] for name in names]
    matching = sa.select(Faskes.id).where(*conditions)
    if names:
        matching = matching.limit(sa.literal_column(str(MAX_COUNTED), sa.Integer))
    count = sa.select(sa.func.count()).select_from(matching.subquery())
    return (
        PreparedStatement(_ALL.where(*conditions), plans_by_values=bool(names)),
        PreparedStatement(count, plans_by_values=bool(names)),
    )


def list_page(connection: sa.Connection, page: Page, **narrowing: str) -> Results:
    """Return facilities that match all conditions, newest first. `nama` and `q` match parts of texts."""
    texts = [text for name, text in narrowing.items() if name in ("nama", "q")]
    if "q" in narrowing and not has_trigram(narrowing["q"]):
        narrowing["short_q"] = narrowing.pop("q")
    page_statement, count = _list(*narrowing)
    values = {**narrowing, "pattern": contains(texts[0]) if texts else None, "limit": page.size, "offset": page.offset}
    records = page_statement.records(connection, values)
    if (total := page.total(len(records))) is not None:
        return Results(records, total, page)
    return Results(records, count.rows(connection, values)[0][0], page)
