"""Table of content categories for articles and communities."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.session import Base


class Kategori(Base):
    __tablename__ = "kategori"

    id: Mapped[int] = mapped_column(primary_key=True)
    nama_kategori: Mapped[str]

    __table_args__ = (sa.Index("uq_kategori_nama_kategori", sa.text("lower(nama_kategori)"), unique=True),)
