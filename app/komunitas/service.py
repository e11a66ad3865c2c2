"""Communities."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import assign, db, get_or_404, translating
from app.core.errors import AppError, ValidationFailed
from app.core.media import pictures
from app.core.web.pagination import Listing, Page, paginate
from app.komunitas.models import Komunitas

MISSING = "Komunitas tidak ditemukan."
BROKEN: dict[str, AppError] = {
    "fk_komunitas_kategori_id": ValidationFailed({"kategori_id": ["tidak ditemukan."]}),
}


def list_komunitas(page: Page) -> Listing[Komunitas]:
    """All communities, newest first."""
    return paginate(sa.select(Komunitas).order_by(Komunitas.id.desc()), page)


def get_komunitas(komunitas_id: int) -> Komunitas:
    return get_or_404(Komunitas, komunitas_id, MISSING)


def create_komunitas(data: dict[str, Any]) -> Komunitas:
    upload = data.pop("image", None)
    komunitas = Komunitas(**data, image=pictures.save(upload) if upload else None)
    with translating(BROKEN):
        db.session.add(komunitas)
    return komunitas


def update_komunitas(komunitas_id: int, data: dict[str, Any]) -> Komunitas:
    """Change what was sent; a new picture replaces the old one, a null one removes it."""
    komunitas = get_komunitas(komunitas_id)
    if "image" in data:
        pictures.discard(komunitas.image)
        upload = data.pop("image")
        data["image"] = pictures.save(upload) if upload else None
    with translating(BROKEN):
        return assign(komunitas, data)


def delete_komunitas(komunitas_id: int) -> None:
    komunitas = get_komunitas(komunitas_id)
    pictures.discard(komunitas.image)
    db.session.delete(komunitas)
    db.session.flush()
