"""Stored articles and what people saved; the ministry's own are in `app.articles.live`."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.articles.models import Article, SavedArticle, articles
from app.core.database.session import Fields, assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict, NotFound, ValidationFailed
from app.core.media import pictures
from app.core.web.pagination import Listing, Page, contains, paginate_rows
from app.notifications.broadcasts import service as broadcasts

MISSING = "Artikel tidak ditemukan."
BROKEN: dict[str, AppError] = {
    "uq_articles_url": Conflict("Artikel dengan alamat itu sudah ada.", code="article_exists"),
    "fk_articles_kategori_id": ValidationFailed({"kategori_id": ["tidak ditemukan."]}),
}
ANNOUNCEMENT = "Artikel baru: {title}"


def list_articles(page: Page, user_id: int | None, title: str | None = None) -> Listing[Any]:
    """Stored articles, newest first; with `title` those whose title contains it, without case."""
    query = _shown(user_id).order_by(Article.id.desc())
    if title is not None:
        query = query.where(Article.title.ilike(contains(title)))
    return paginate_rows(query, page)


def get_article(article_id: int, user_id: int | None) -> Any:
    return _one(_shown(user_id).where(Article.id == article_id))


def get_article_by_url(url: str, user_id: int | None) -> Any:
    return _one(_shown(user_id).where(Article.url == url))


def create_article(data: dict[str, Any]) -> Any:
    """A new article, told to everybody after a while."""
    upload = data.pop("image", None)
    article = Article(**data, image=pictures.save(upload) if upload else None)
    with translating(BROKEN):
        db.session.add(article)
    text = ANNOUNCEMENT.format(title=article.title)
    broadcasts.announce(kind="article", subject=_subject(article.id), text=text)
    return get_article(article.id, None)


def update_article(article_id: int, data: dict[str, Any], user_id: int) -> Any:
    """Change what was sent; a new picture replaces the old one, a null one removes it."""
    article = get_or_404(Article, article_id, MISSING)
    if "image" in data:
        pictures.discard(article.image)
        upload = data.pop("image")
        data["image"] = pictures.save(upload) if upload else None
    with translating(BROKEN):
        assign(article, data)
    return get_article(article_id, user_id)


def delete_article(article_id: int) -> None:
    article = get_or_404(Article, article_id, MISSING)
    pictures.discard(article.image)
    broadcasts.withdraw(_subject(article_id))
    db.session.delete(article)
    db.session.flush()


def toggle_save(user_id: int, data: Fields) -> bool:
    """Save an article, or take it back; returns whether it is saved now. The key is the lock of a double tap."""
    statement = insert(SavedArticle).values(user_id=user_id, saved=True, **data)
    flipped = statement.on_conflict_do_update(
        index_elements=["user_id", "url"],
        set_={"saved": ~SavedArticle.saved, "title": statement.excluded.title, "saved_at": sa.func.clock_timestamp()},
    )
    return bool(db.session.scalar(flipped.returning(SavedArticle.saved)))


def list_saved(user_id: int, page: Page) -> Listing[Any]:
    """What a person saved, latest first; one that is stored too brings its id and picture."""
    query = (
        sa.select(
            Article.id, SavedArticle.title, SavedArticle.url, Article.image, SavedArticle.saved.label("is_saved"),
            SavedArticle.saved_at,
        )
        .outerjoin(Article, Article.url == SavedArticle.url)
        .where(SavedArticle.user_id == user_id, SavedArticle.saved)
        .order_by(SavedArticle.saved_at.desc(), SavedArticle.url)
    )  # fmt: skip
    return paginate_rows(query, page)


def saved_among(user_id: int | None, urls: list[str]) -> set[str]:
    """Which of these addresses a person has saved."""
    if user_id is None or not urls:
        return set()
    query = sa.select(SavedArticle.url).where(
        SavedArticle.user_id == user_id, SavedArticle.saved, SavedArticle.url.in_(urls)
    )
    return set(db.session.scalars(query))


def _shown(user_id: int | None) -> sa.Select[Any]:
    """Articles as they are shown: with whether this person has saved them."""
    if user_id is None:
        return sa.select(*articles.c, sa.false().label("is_saved"))
    saved = (SavedArticle.url == Article.url) & (SavedArticle.user_id == user_id)
    is_saved = sa.func.coalesce(SavedArticle.saved, sa.false()).label("is_saved")
    return sa.select(*articles.c, is_saved).outerjoin(SavedArticle, saved)


def _subject(article_id: int) -> str:
    return f"article:{article_id}"


def _one(query: sa.Select[Any]) -> Any:
    row = db.session.execute(query).one_or_none()
    if row is None:
        raise NotFound(MISSING)
    return row
