"""Content categories."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.kategori.models import Kategori

CONSTRAINTS: dict[str, AppError] = {
    "uq_kategori_nama_kategori": Conflict("Nama kategori sudah dipakai.", code="kategori_taken")
}
IN_USE = Conflict("Kategori masih dipakai.", code="kategori_in_use")
NOT_FOUND = "Kategori tidak ditemukan."


def list_all(page: Page) -> Listing[Kategori]:
    return paginate(sa.select(Kategori).order_by(Kategori.nama_kategori, Kategori.id), page)


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
