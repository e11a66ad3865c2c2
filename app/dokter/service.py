"""Doctors: a search by position for everybody, and changes by administrators."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors
from app.core.errors import AppError, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, containing, paginate
from app.dokter.models import Dokter, dokter_faskes
from app.dokter.schemas import DokterFilter
from app.faskes.models import Faskes, distance_km
from app.providers import geocoding

NOT_FOUND = "Dokter tidak ditemukan."
UNKNOWN_FASKES = "tidak dikenal: {}."

#: Error for a facility that is deleted between the lookup and the insert.
CONSTRAINTS: dict[str, AppError] = {"fk_dokter_faskes_faskes_id": ValidationFailed({"faskes_ids": ["tidak dikenal."]})}

_LAT, _LNG = sa.bindparam("lat", type_=sa.Double), sa.bindparam("lng", type_=sa.Double)
_DISTANCE = sa.func.min(distance_km(_LAT, _LNG))
_PRACTICES = sa.func.jsonb_agg(
    aggregate_order_by(sa.func.jsonb_build_object("id", Faskes.id, "nama", Faskes.nama), Faskes.nama, Faskes.id)
)
_PRACTISING_THERE = (
    sa.select(dokter_faskes.c.dokter_id)
    .join(Faskes, Faskes.id == dokter_faskes.c.faskes_id)
    .where(Faskes.province == sa.bindparam("province"))
)
_NEARBY = (
    sa.select(
        Dokter.id,
        Dokter.nama,
        Dokter.spesialisasi,
        Dokter.telepon,
        Dokter.image,
        _PRACTICES.label("faskes"),
        _DISTANCE.label("distance_km"),
    )
    .join(dokter_faskes, dokter_faskes.c.dokter_id == Dokter.id)
    .join(Faskes, Faskes.id == dokter_faskes.c.faskes_id)
    .where(Dokter.id.in_(_PRACTISING_THERE))
    .group_by(Dokter.id)
    .order_by(_DISTANCE, Dokter.id)
    .limit(sa.bindparam("limit", type_=sa.Integer))
    .offset(sa.bindparam("offset", type_=sa.Integer))
)
_COUNT_NEARBY = sa.select(sa.func.count()).select_from(_PRACTISING_THERE.distinct().subquery())


def nearby(lat: float, lng: float, page: Page) -> Listing[dict[str, object]]:
    """Return doctors with a facility in the position's province, nearest first.

    The distance is to the nearest facility of each doctor, even if that facility is in another province.
    """
    province = geocoding.province_at(lat, lng)
    if province is None:
        return Listing([], 0, page)
    values = {"lat": lat, "lng": lng, "province": province, "limit": page.size, "offset": page.offset}
    rows = [_with_distance(row) for row in db.session.execute(_NEARBY, values).mappings()]
    if (total := page.total(len(rows))) is not None:
        return Listing(rows, total, page)
    return Listing(rows, db.session.execute(_COUNT_NEARBY, {"province": province}).scalar_one(), page)


def _with_distance(row: sa.RowMapping) -> dict[str, object]:
    return {
        **row,
        "image": pictures.url(row["image"]),
        "faskes_ids": [faskes["id"] for faskes in row["faskes"]],
        "distance_km": round(row["distance_km"], 3),
    }


def list_all(search: DokterFilter) -> Listing[Dokter]:
    """Return doctors, newest first. `search.q` is a part of the name or speciality."""
    query = sa.select(Dokter).order_by(Dokter.created_at.desc(), Dokter.id.desc())
    if search.q:
        query = query.where(containing(search.q, Dokter.nama, Dokter.spesialisasi))
    if search.spesialisasi is not None:
        query = query.where(sa.func.lower(Dokter.spesialisasi) == search.spesialisasi.lower())
    practices = sa.select(dokter_faskes.c.dokter_id)
    if search.faskes_id is not None:
        query = query.where(Dokter.id.in_(practices.where(dokter_faskes.c.faskes_id == search.faskes_id)))
    if search.province is not None:
        there = practices.join(Faskes, Faskes.id == dokter_faskes.c.faskes_id).where(Faskes.province == search.province)
        query = query.where(Dokter.id.in_(there))
    return paginate(query, search.page)


def get(dokter_id: int) -> Dokter:
    return get_or_404(Dokter, dokter_id, NOT_FOUND)


def create(data: Loaded) -> Dokter:
    dokter = Dokter(**_columns(data))
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(dokter)
    return dokter


def update(dokter_id: int, data: Loaded) -> Dokter:
    """Update the given fields. `faskes_ids` replaces all facilities."""
    dokter = get_locked_or_404(Dokter, dokter_id, NOT_FOUND)
    columns = {name: value for name, value in data.items() if name != "faskes_ids"}
    changes = pictures.columns(columns, replaces=dokter.image)
    with map_constraint_errors(CONSTRAINTS):
        if "faskes_ids" in data:
            _practise_at(dokter, {faskes.id for faskes in _faskes_of(data["faskes_ids"])})
        return assign(dokter, changes)


def delete(dokter_id: int) -> None:
    dokter = get_locked_or_404(Dokter, dokter_id, NOT_FOUND)
    pictures.discard(dokter.image)
    # Delete with SQL. A deletion through the session fails if another request deletes one of the doctor's facilities at
    # the same time.
    db.session.execute(sa.delete(Dokter).where(Dokter.id == dokter_id))


def _practise_at(dokter: Dokter, faskes_ids: set[str]) -> None:
    """Replace the doctor's facilities. Insert and delete only the rows that change.

    Use SQL, because the session would raise an error if another request deleted one of these rows at the same time.
    """
    practices = dokter_faskes.c
    db.session.execute(
        sa.delete(dokter_faskes).where(practices.dokter_id == dokter.id, practices.faskes_id.not_in(faskes_ids))
    )
    if faskes_ids:
        rows = [{"dokter_id": dokter.id, "faskes_id": faskes_id} for faskes_id in sorted(faskes_ids)]
        db.session.execute(insert(dokter_faskes).values(rows).on_conflict_do_nothing())
    db.session.expire(dokter, ["faskes"])


def _columns(data: Loaded) -> dict[str, object]:
    """Return `data` as attributes of a doctor. Replace `faskes_ids` by facilities, and an upload by the stored name."""
    columns: dict[str, object] = {name: value for name, value in data.items() if name != "faskes_ids"}
    if "faskes_ids" in data:
        columns["faskes"] = _faskes_of(data["faskes_ids"])
    return pictures.columns(columns)


def _faskes_of(ids: Collection[str]) -> list[Faskes]:
    query = sa.select(Faskes).where(Faskes.id.in_(set(ids))).order_by(Faskes.nama, Faskes.id)
    facilities = list(db.session.scalars(query))
    if unknown := sorted(set(ids) - {faskes.id for faskes in facilities}):
        raise ValidationFailed({"faskes_ids": [UNKNOWN_FASKES.format(", ".join(unknown[:5]))]})
    return facilities
