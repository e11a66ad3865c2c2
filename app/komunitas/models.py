"""Table of communities, which people can join outside this service."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base, Timestamps, trigrams


class Komunitas(Base, Timestamps):
    __tablename__ = "komunitas"
    __personal__ = Impersonal("Communities as administrators entered them")

    id: Mapped[int] = mapped_column(primary_key=True)
    nama: Mapped[str]
    deskripsi: Mapped[str | None]
    kategori_id: Mapped[int | None] = mapped_column(sa.ForeignKey("kategori.id", ondelete="RESTRICT"), index=True)
    link: Mapped[str | None]
    kontak: Mapped[str | None]
    province: Mapped[str | None] = mapped_column(index=True)
    image: Mapped[str | None] = mapped_column(comment="name in the media store")

    __table_args__ = (trigrams("ix_komunitas_searched", "nama", "deskripsi"),)
