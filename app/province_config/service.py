"""Home page layouts by province. An update replaces the whole layout of a province."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import NotFound, ValidationFailed
from app.core.lib import provinces
from app.core.web.fields import Loaded
from app.providers import geocoding
from app.province_config.models import DEFAULT, ProvinceConfig

NOT_FOUND = "Belum ada pengaturan untuk provinsi ini."


def nearby(lat: float, lng: float) -> ProvinceConfig:
    """Return the layout for the province at a position.

    Raise `NotFound` if the position is in no province, or if the province has no layout.
    """
    province = geocoding.province_at(lat, lng)
    if province is None:
        raise NotFound("Posisi tidak berada di provinsi mana pun.", code="province_not_found")
    return get(province)


def get(province: str) -> ProvinceConfig:
    config = db.session.get(ProvinceConfig, _canonical(province) or "")
    if config is None:
        raise NotFound(NOT_FOUND)
    return config


def update(province: str, data: Loaded) -> ProvinceConfig:
    """Store or replace the layout of a province. Set each section's order to its position."""
    name = _canonical(province)
    if name is None:
        raise ValidationFailed({"province": ["harus salah satu provinsi di Indonesia."]})
    sections = [{**section, "order": order} for order, section in enumerate(data["sections"])]
    new = insert(ProvinceConfig).values(province=name, sections=sections)
    query = new.on_conflict_do_update(
        index_elements=[ProvinceConfig.province],
        set_={"sections": new.excluded.sections, "updated_at": sa.func.now()},
    ).returning(ProvinceConfig)
    return db.session.scalars(query, execution_options={"populate_existing": True}).one()


def delete(province: str) -> None:
    statement = sa.delete(ProvinceConfig).where(ProvinceConfig.province == _canonical(province))
    if db.session.scalar(statement.returning(ProvinceConfig.province)) is None:
        raise NotFound(NOT_FOUND)


def _canonical(province: str) -> str | None:
    """Return the name that a layout is stored under, or None for an unknown province."""
    return DEFAULT if province.strip().lower() == DEFAULT else provinces.canonical(province)
