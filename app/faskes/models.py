"""Table of health facilities from administrators and from the places provider."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base, Timestamps, trigrams
from app.core.lib.geo import EARTH_RADIUS_KM

#: Sources of a record: an administrator, or the places provider. Searches overwrite only records from the provider.
DB, PLACES = "db", "places"


class Faskes(Base, Timestamps):
    __tablename__ = "faskes"
    __personal__ = Impersonal("Facilities, not people")

    id: Mapped[str] = mapped_column(
        primary_key=True, comment="identifier of the places provider, or one made by this service"
    )
    nama: Mapped[str]
    alamat: Mapped[str | None]
    lat: Mapped[float]
    lng: Mapped[float]
    jenis: Mapped[str | None]
    telepon: Mapped[str | None]
    province: Mapped[str | None] = mapped_column(index=True)
    rating: Mapped[float | None]
    source: Mapped[str] = mapped_column(server_default=DB)

    __table_args__ = (
        sa.CheckConstraint("lat BETWEEN -90 AND 90 AND lng BETWEEN -180 AND 180", name="position"),
        sa.CheckConstraint(f"source IN ('{DB}', '{PLACES}')", name="source"),
        sa.Index("ix_faskes_position", sa.text("point(lng, lat)"), postgresql_using="gist"),
        trigrams("ix_faskes_nama", "nama"),
        trigrams("ix_faskes_alamat", "alamat"),
        sa.Index("ix_faskes_created_at", "created_at", "id"),
    )


#: The table. Statements of frequent reads use it instead of the model, because the ORM would double their time.
faskes = cast(sa.Table, Faskes.__table__)


def distance_km(lat: float | sa.ColumnElement[float], lng: float | sa.ColumnElement[float]) -> sa.ColumnElement[float]:
    """Return the great-circle distance in km between a facility and a position.

    The haversine formula stays exact for short distances.
    """
    half_north = sa.func.sin(sa.func.radians(faskes.c.lat - lat) * 0.5)
    half_east = sa.func.sin(sa.func.radians(faskes.c.lng - lng) * 0.5)
    shrink = sa.func.cos(sa.func.radians(faskes.c.lat)) * sa.func.cos(sa.func.radians(lat))
    square = half_north * half_north + shrink * half_east * half_east
    distance: sa.ColumnElement[float] = sa.func.asin(sa.func.sqrt(sa.func.least(1.0, square))) * (2 * EARTH_RADIUS_KM)
    return distance
