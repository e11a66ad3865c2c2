"""Tables of stored articles and of articles that users saved."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
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


class SavedArticle(Base):
    """An article that a user saved: a live one, on the ministry's site, or a stored one, in the table `articles`.

    When the user removes the article, the row stays, and `saved` becomes false. Simultaneous requests can therefore
    lock the same row.
    """

    __tablename__ = "saved_articles"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    url: Mapped[str] = mapped_column(primary_key=True, comment="canonical, see app.core.lib.urls")
    title: Mapped[str]
    saved: Mapped[bool]
    saved_at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())

    __table_args__ = (sa.Index("ix_saved_articles_user_id_saved_at", "user_id", "saved_at"),)


#: Table for statements that need no ORM objects.
articles = cast(sa.Table, Article.__table__)
