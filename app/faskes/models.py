"""Table of health facilities from administrators and from the places provider."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base, Timestamps, trigrams
from app.core.lib.geo import EARTH_RADIUS_KM

#: Sources of a record: an administrator, or the places provider. Searches overwrite only records from the provider.
DB, PLACES = "db", "places"

NOT_FOUND = "Fasilitas kesehatan tidak ditemukan."


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
    jenis: Mapped[str | None] = mapped_column(index=True)
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


def distance_km(lat: sa.ColumnElement[float], lng: sa.ColumnElement[float]) -> sa.ColumnElement[float]:
    """Return the great-circle distance in km between a facility and a position.

    The haversine formula stays exact for short distances.
    """
    half_north = sa.func.sin(sa.func.radians(Faskes.lat - lat) * _HALF)
    half_east = sa.func.sin(sa.func.radians(Faskes.lng - lng) * _HALF)
    # With this subquery, PostgreSQL computes the cosine once per statement, and uses one plan for all positions.
    shrink_here = sa.select(sa.func.cos(sa.func.radians(lat))).scalar_subquery()
    shrink = shrink_here * sa.func.cos(sa.func.radians(Faskes.lat))
    square = half_north * half_north + shrink * half_east * half_east
    return _DIAMETER_KM * sa.func.asin(sa.func.sqrt(sa.func.least(_ONE, square)))


# These values are literals. Parameters would have the type `numeric`, and calculations with `numeric` are ten times
# slower.
_HALF, _ONE, _DIAMETER_KM = (
    sa.literal_column(f"{value!r}::float8", sa.Double) for value in (0.5, 1.0, 2 * EARTH_RADIUS_KM)
)
