"""Content categories."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, translating
from app.core.errors import AppError, Conflict
from app.core.web.pagination import Listing, Page, paginate
from app.kategori.models import Kategori
from app.kategori.schemas import NewKategori

CONSTRAINTS: dict[str, AppError] = {
    "uq_kategori_nama_kategori": Conflict("Nama kategori sudah dipakai.", code="kategori_taken")
}
IN_USE = Conflict("Kategori masih dipakai.", code="kategori_in_use")
NOT_FOUND = "Kategori tidak ditemukan."


def list_all(page: Page) -> Listing[Kategori]:
    return paginate(sa.select(Kategori).order_by(Kategori.nama_kategori, Kategori.id), page)


def create(data: NewKategori) -> Kategori:
    kategori = Kategori(**data)
    with translating(CONSTRAINTS):
        db.session.add(kategori)
    return kategori


def update(kategori_id: int, data: NewKategori) -> Kategori:
    kategori = get_locked_or_404(Kategori, kategori_id, NOT_FOUND)
    with translating(CONSTRAINTS):
        return assign(kategori, data)


def delete(kategori_id: int) -> None:
    kategori = get_locked_or_404(Kategori, kategori_id, NOT_FOUND)
    with translating({}, in_use=IN_USE):
        db.session.delete(kategori)
