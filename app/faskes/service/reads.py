"""The facilities' reads: statements built once, rows turned into plain records without ORM and marshmallow.

Each function takes the connection, so that a search can show what it has stored and not yet committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.lib.geo import box_around
from app.core.web.pagination import MAX_UNPAGED, Listing, Page, contains
from app.core.web.search import MOST_COUNTED, containing
from app.faskes.models import Faskes, distance_km
from app.faskes.schemas import FaskesFilter

Record = dict[str, object]


class Results(Listing[Record]):
    """One page of facilities, which the section wraps in an object with a status."""

    @property
    def body(self) -> dict[str, object]:
        return {"results": self.rows, "status": "OK" if self.total else "ZERO_RESULTS"}


#: `distance_km` is rounded to metres.
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
    # A SELECT of its own: folded into a constant it would seem to pay to plan the statement anew for each circle.
    box = sa.select(sa.func.box(*corners)).scalar_subquery()
    return sa.func.point(Faskes.lng, Faskes.lat).bool_op("<@")(box)


def _around(*boxes: sa.ColumnElement[bool]) -> sa.Select[*tuple[object, ...]]:
    """Facilities in a circle, nearest first: the index selects those in its boxes, the distance those in the circle."""
    boxed = (
        sa.select(*COLUMNS, distance_km(_param("lat"), _param("lng")).label("distance_km"))
        .where(sa.or_(*boxes))
        .offset(sa.literal_column("0"))  # keeps the planner from computing the distance again for filter and order
        .subquery()
    )
    return (
        sa.select(boxed)
        .where(boxed.c.distance_km <= _param("radius_km"))
        .order_by(boxed.c.distance_km, boxed.c.id)
        .limit(sa.literal_column(str(MAX_UNPAGED)))
    )


#: By the number of boxes: a circle over the antimeridian has one on each side of it.
AROUND = {1: _around(_in_box("west0", "east0")), 2: _around(_in_box("west0", "east0"), _in_box("west1", "east1"))}
_PREPARED_AROUND = {boxes: PreparedStatement(statement) for boxes, statement in AROUND.items()}


def circle(lat: float, lng: float, radius_m: float) -> tuple[int, dict[str, float]]:
    """Which statement of `AROUND` a circle needs, and its parameters."""
    box = box_around(lat, lng, radius_m / 1000)
    params = {"lat": lat, "lng": lng, "radius_km": radius_m / 1000, "south": box.south, "north": box.north}
    for number, (west, east) in enumerate(box.longitudes):
        params |= {f"west{number}": west, f"east{number}": east}
    return len(box.longitudes), params


def around(connection: sa.Connection, lat: float, lng: float, radius_m: float) -> list[Record]:
    """The facilities within `radius_m` metres, nearest first, at most as many as an unpaged list holds."""
    boxes, params = circle(lat, lng, radius_m)
    records = _PREPARED_AROUND[boxes].records(connection, params)
    return [{**record, "distance_km": round(record["distance_km"], DECIMALS)} for record in records]


def page_of(rows: Sequence[Record], page: Page) -> Results:
    """One page of rows that are in memory already."""
    return Results(rows[page.offset : page.offset + page.size], len(rows), page)


_LIMIT, _OFFSET = sa.bindparam("limit", type_=sa.Integer), sa.bindparam("offset", type_=sa.Integer)
_BY_ID = sa.select(*COLUMNS).where(Faskes.id == sa.bindparam("id"))
_ALL = sa.select(*COLUMNS).order_by(Faskes.created_at.desc(), Faskes.id.desc()).limit(_LIMIT).offset(_OFFSET)
_MATCHES = Faskes.nama.ilike(sa.bindparam("pattern", type_=sa.Text), escape="\\")
_COUNT = sa.select(sa.func.count()).select_from(Faskes)

_PREPARED_BY_ID = PreparedStatement(_BY_ID)
_PREPARED_ALL, _PREPARED_COUNT = PreparedStatement(_ALL), PreparedStatement(_COUNT)
_PREPARED_SEARCH = PreparedStatement(_ALL.where(_MATCHES))
_PREPARED_SEARCH_COUNT = PreparedStatement(
    sa.select(sa.func.count()).select_from(
        sa.select(Faskes.id).where(_MATCHES).limit(sa.literal_column(str(MOST_COUNTED), sa.Integer)).subquery()
    )
)


def get(connection: sa.Connection, faskes_id: str) -> Record | None:
    records = _PREPARED_BY_ID.records(connection, {"id": faskes_id})
    return records[0] if records else None


def list_all(connection: sa.Connection, page: Page) -> Results:
    """All facilities, newest first."""
    return _page(connection, _PREPARED_ALL, _PREPARED_COUNT, page, {})


def list_narrowed(connection: sa.Connection, search: FaskesFilter) -> Results:
    """Facilities that meet the filter, newest first. Which plan is best depends on its values: it is not prepared."""
    page = search.page
    conditions: list[sa.ColumnElement[bool]] = []
    if search.q:
        conditions.append(containing(search.q, Faskes.nama, Faskes.alamat, newest_by=Faskes.created_at))
    if search.jenis is not None:
        conditions.append(Faskes.jenis == search.jenis)
    if search.province is not None:
        conditions.append(Faskes.province == search.province)
    values = {"limit": page.size, "offset": page.offset}
    records: list[Record] = [dict(row) for row in connection.execute(_ALL.where(*conditions), values).mappings()]
    if (total := page.total(len(records))) is not None:
        return Results(records, total, page)
    counted = sa.select(Faskes.id).where(*conditions).limit(MOST_COUNTED).subquery()
    return Results(records, connection.execute(sa.select(sa.func.count()).select_from(counted)).scalar_one(), page)


def search(connection: sa.Connection, keyword: str, page: Page) -> Results:
    """Facilities whose name contains `keyword` to the letter, whatever the case, newest first.

    The total counts no further than `MOST_COUNTED`.
    """
    return _page(connection, _PREPARED_SEARCH, _PREPARED_SEARCH_COUNT, page, {"pattern": contains(keyword)})


def _page(
    connection: sa.Connection,
    statement: PreparedStatement,
    count: PreparedStatement,
    page: Page,
    params: Mapping[str, object],
) -> Results:
    records = statement.records(connection, {**params, "limit": page.size, "offset": page.offset})
    if (total := page.total(len(records))) is not None:
        return Results(records, total, page)
    return Results(records, count.rows(connection, params)[0][0], page)
