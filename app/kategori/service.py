"""Content categories."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.database.session import assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.identity import preferences
from app.kategori.models import Kategori
from app.kategori.schemas import KategoriFilter

CONSTRAINTS: dict[str, AppError] = {
    "uq_kategori_nama_kategori": Conflict("Nama kategori sudah dipakai.", code="kategori_taken")
}
IN_USE = Conflict("Kategori masih dipakai.", code="kategori_in_use")
NOT_FOUND = "Kategori tidak ditemukan."


def list_all(page: Page) -> Listing[Kategori]:
    return paginate(sa.select(Kategori).order_by(Kategori.nama_kategori, Kategori.id), page)


def within(column: InstrumentedAttribute[int | None], search: KategoriFilter) -> list[sa.ColumnElement[bool]]:
    """Return the SQL conditions of the filter `search` for a column with category ids."""
    conditions: list[sa.ColumnElement[bool]] = []
    if search.kategori_id is not None:
        conditions.append(column == search.kategori_id)
    if search.tag:
        conditions.append(column.in_(_tagged(search.tag)))
    return conditions


def _tagged(tags: Collection[str]) -> list[int]:
    """Return ids of categories whose name matches one of the tags.

    `Kesehatan Mental` matches `mental_health`, for example.
    """
    names = db.session.execute(sa.select(Kategori.id, Kategori.nama_kategori))
    return [number for number, name in names if not set(tags).isdisjoint(preferences.tags([name]))]


def create(data: Loaded) -> Kategori:
    kategori = Kategori(**data)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(kategori)
    return kategori


def update(kategori_id: int, data: Loaded) -> Kategori:
    kategori = get_locked_or_404(Kategori, kategori_id, NOT_FOUND, key_share=True)
    with map_constraint_errors(CONSTRAINTS):
        return assign(kategori, data)


def delete(kategori_id: int) -> None:
    kategori = get_locked_or_404(Kategori, kategori_id, NOT_FOUND)
    with map_constraint_errors({}, in_use=IN_USE):
        db.session.delete(kategori)
