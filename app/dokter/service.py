"""Doctors: a search by position for everybody, and changes by administrators."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

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


def nearby(lat: float, lng: float, page: Page) -> Listing[Dokter]:
    """Return doctors with a facility in the position's province, nearest first.

    The distance is to the nearest facility of each doctor, even if that facility is in another province.
    """
    province = geocoding.province_at(lat, lng)
    if province is None:
        return Listing([], 0, page)
    distance = sa.func.min(distance_km(lat, lng))
    query = (
        sa.select(Dokter)
        .join(dokter_faskes, dokter_faskes.c.dokter_id == Dokter.id)
        .join(Faskes, Faskes.id == dokter_faskes.c.faskes_id)
        .where(Dokter.id.in_(_practising_in(province)))
        .group_by(Dokter.id)
        .order_by(distance, Dokter.id)
        .options(orm.with_expression(Dokter.distance_km, distance))
    )
    return paginate(query.execution_options(populate_existing=True), page)


def _practising_in(province: str) -> sa.Select[int]:
    practices = sa.select(dokter_faskes.c.dokter_id).join(Faskes, Faskes.id == dokter_faskes.c.faskes_id)
    return practices.where(Faskes.province == province)


def list_all(search: DokterFilter) -> Listing[Dokter]:
    """Return doctors, newest first. `search.q` is a part of the name or speciality."""
    query = sa.select(Dokter).order_by(Dokter.created_at.desc(), Dokter.id.desc())
    if search.q:
        query = query.where(containing(search.q, Dokter.nama, Dokter.spesialisasi))
    if search.province is not None:
        query = query.where(Dokter.id.in_(_practising_in(search.province)))
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
