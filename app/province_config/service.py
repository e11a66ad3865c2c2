"""The home page layout of each province, replaced as a whole."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import NotFound, ValidationFailed
from app.core.lib import provinces
from app.providers import geocoding
from app.province_config.models import DEFAULT, ProvinceConfig

MISSING = "Belum ada pengaturan untuk provinsi ini."


def nearby(lat: float, lng: float) -> ProvinceConfig:
    """The layout of the province around a position. `NotFound` without a province, or without a layout for it."""
    province = geocoding.province_at(lat, lng)
    if province is None:
        raise NotFound("Posisi tidak berada di provinsi mana pun.", code="province_not_found")
    return get(province)


def get(province: str) -> ProvinceConfig:
    config = db.session.get(ProvinceConfig, _canonical(province) or "")
    if config is None:
        raise NotFound(MISSING)
    return config


def replace(province: str, sections: list[dict[str, Any]]) -> ProvinceConfig:
    """Save the layout in place of whatever there was; each section's order is its place."""
    name = _canonical(province)
    if name is None:
        raise ValidationFailed({"province": ["bukan provinsi di Indonesia."]})
    ordered = [{**section, "order": order} for order, section in enumerate(sections)]
    new = insert(ProvinceConfig).values(province=name, sections=ordered)
    query = new.on_conflict_do_update(
        index_elements=[ProvinceConfig.province],
        set_={"sections": new.excluded.sections, "updated_at": sa.func.now()},
    ).returning(ProvinceConfig)
    return db.session.scalars(query, execution_options={"populate_existing": True}).one()


def delete(province: str) -> None:
    gone = sa.delete(ProvinceConfig).where(ProvinceConfig.province == _canonical(province))
    if db.session.scalar(gone.returning(ProvinceConfig.province)) is None:
        raise NotFound(MISSING)


def _canonical(province: str) -> str | None:
    """The name that a layout is kept under."""
    return DEFAULT if province.strip().lower() == DEFAULT else provinces.canonical(province)
