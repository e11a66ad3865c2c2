"""Table of stored articles."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.session import Base, Timestamps, trigrams


class Article(Base, Timestamps):
    __tablename__ = "articles"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    url: Mapped[str | None] = mapped_column(unique=True, comment="canonical, see app.core.lib.urls")
    content: Mapped[str] = mapped_column(comment="sanitised HTML")
    kategori_id: Mapped[int | None] = mapped_column(sa.ForeignKey("kategori.id", ondelete="RESTRICT"), index=True)
    image: Mapped[str | None] = mapped_column(comment="name in the media store")

    __table_args__ = (trigrams("ix_articles_title", "title"),)


#: Table for statements that need no ORM objects.
articles = cast(sa.Table, Article.__table__)
