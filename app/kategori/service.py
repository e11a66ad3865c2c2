"""Content categories."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import Fields, assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict
from app.core.web.pagination import Listing, Page, paginate
from app.kategori.models import Kategori

TAKEN: dict[str, AppError] = {
    "uq_kategori_nama_kategori": Conflict("Nama kategori sudah dipakai.", code="kategori_taken")
}
IN_USE = Conflict("Kategori masih dipakai.", code="kategori_in_use")
MISSING = "Kategori tidak ditemukan."


def list_kategori(page: Page) -> Listing[Kategori]:
    return paginate(sa.select(Kategori).order_by(Kategori.nama_kategori, Kategori.id), page)


def create_kategori(data: Fields) -> Kategori:
    kategori = Kategori(**data)
    with translating(TAKEN):
        db.session.add(kategori)
    return kategori


def replace_kategori(kategori_id: int, data: Fields) -> Kategori:
    kategori = get_or_404(Kategori, kategori_id, MISSING)
    with translating(TAKEN):
        return assign(kategori, data)


def delete_kategori(kategori_id: int) -> None:
    kategori = get_or_404(Kategori, kategori_id, MISSING)
    with translating({}, in_use=IN_USE):
        db.session.delete(kategori)
