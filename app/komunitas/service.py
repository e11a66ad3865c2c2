"""Communities."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors
from app.core.errors import AppError, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, containing, cut_in_sql, paginate_rows
from app.komunitas.models import Komunitas
from app.komunitas.schemas import KomunitasFilter

#: A row with the columns of a community.
KomunitasRow = sa.Row[*tuple[object, ...]]

komunitas = cast(sa.Table, Komunitas.__table__)

NOT_FOUND = "Komunitas tidak ditemukan."
CONSTRAINTS: dict[str, AppError] = {
    "fk_komunitas_kategori_id": ValidationFailed({"kategori_id": ["tidak ditemukan."]}),
}


def list_all(search: KomunitasFilter) -> Listing[KomunitasRow]:
    """Return communities, newest first. `search.q` is a part of the name or description."""
    columns = [cut_in_sql(column, search.page) if column is komunitas.c.deskripsi else column for column in komunitas.c]
    query = sa.select(*columns).order_by(Komunitas.id.desc())
    if search.kategori_id is not None:
        query = query.where(Komunitas.kategori_id == search.kategori_id)
    if search.q:
        query = query.where(containing(search.q, Komunitas.nama, Komunitas.deskripsi))
    if search.province is not None:
        query = query.where(Komunitas.province == search.province)
    return paginate_rows(query, search.page)


def get(komunitas_id: int) -> Komunitas:
    return get_or_404(Komunitas, komunitas_id, NOT_FOUND)


def create(data: Loaded) -> Komunitas:
    komunitas = Komunitas(**pictures.columns(data))
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(komunitas)
    return komunitas


def update(komunitas_id: int, data: Loaded) -> Komunitas:
    """Update the given fields. A new picture replaces the old one. The value null removes the old picture."""
    komunitas = get_locked_or_404(Komunitas, komunitas_id, NOT_FOUND)
    changes = pictures.columns(data, replaces=komunitas.image)
    with map_constraint_errors(CONSTRAINTS):
        return assign(komunitas, changes)


def delete(komunitas_id: int) -> None:
    komunitas = get_locked_or_404(Komunitas, komunitas_id, NOT_FOUND)
    pictures.discard(komunitas.image)
    db.session.delete(komunitas)
