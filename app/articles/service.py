"""Articles, live and stored, and the articles that a user saved."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.articles import live
from app.articles.models import Article, SavedArticle, articles
from app.core.database.session import AnySelect, assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, NotFound, ValidationFailed
from app.core.lib.html import sanitise
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, containing, cut_in_sql, paginate_rows
from app.kategori import service as kategori
from app.kategori.schemas import KategoriFilter
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.models import About

NOT_FOUND = live.NOT_FOUND
CONSTRAINTS: dict[str, AppError] = {
    "uq_articles_url": Conflict("Artikel dengan alamat itu sudah ada.", code="article_exists"),
    "fk_articles_kategori_id": ValidationFailed({"kategori_id": ["tidak ditemukan."]}),
}
ANNOUNCEMENT = "Artikel baru: {title}"

#: A row with the columns of an article and `is_saved`.
ArticleRow = sa.Row[*tuple[object, ...]]
#: A row of a saved article: id and image (null if the article is not stored), title, url, is_saved, saved_at.
SavedRow = sa.Row[*tuple[object, ...]]


def list_live(page: Page, user_id: int | None) -> Listing[dict[str, object]]:
    """Return one page of the ministry's articles, ordered as on the ministry's site, with `is_saved` for this user."""
    headlines = live.list_all()
    shown = headlines[page.offset : page.offset + page.size]
    saved = saved_among(user_id, [headline.url for headline in shown])
    rows = [{**asdict(headline), "is_saved": headline.url in saved} for headline in shown]
    return Listing(rows, len(headlines), page)


def get_live(url: str, user_id: int | None) -> dict[str, object]:
    """Return the article with this address on the ministry's site, with `is_saved` for this user."""
    article = live.get(url)
    return {**asdict(article), "is_saved": article.url in saved_among(user_id, [article.url])}


def list_all(search: KategoriFilter, user_id: int | None) -> Listing[dict[str, object]]:
    """Return stored articles, newest first. `search.q` is a part of the title.

    A text that was cut is sanitised again, so that each of its tags is closed.
    """
    query = _with_is_saved(user_id, cut_in_sql(articles.c.content, search.page)).order_by(Article.id.desc())
    query = query.where(*kategori.within(Article.kategori_id, search))
    if search.q:
        query = query.where(containing(search.q, Article.title))
    listing = paginate_rows(query, search.page)
    records = [row._asdict() for row in listing.rows]
    if not search.page.is_paged:
        for record in records:
            record["content"] = sanitise(record["content"])
    return Listing(records, listing.total, listing.page)


def get(article_id: int, user_id: int | None) -> ArticleRow:
    return _one(_with_is_saved(user_id).where(Article.id == article_id))


def get_by_url(url: str, user_id: int | None) -> ArticleRow:
    return _one(_with_is_saved(user_id).where(Article.url == url))


def create(data: Loaded, user_id: int) -> ArticleRow:
    """Store an article and schedule its announcement to all users."""
    article = Article(**pictures.columns(data))
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(article)
    broadcasts.announce(_about(article.id))
    return get(article.id, user_id)


def update(article_id: int, data: Loaded, user_id: int) -> ArticleRow:
    """Update the given fields. A new picture replaces the old one, and null removes it."""
    article = get_locked_or_404(Article, article_id, NOT_FOUND)
    changes = pictures.columns(data, replaces=article.image)
    with map_constraint_errors(CONSTRAINTS):
        assign(article, changes)
    return get(article_id, user_id)


def delete(article_id: int) -> None:
    article = get_locked_or_404(Article, article_id, NOT_FOUND)
    pictures.discard(article.image)
    broadcasts.withdraw(_about(article_id))
    db.session.delete(article)
    db.session.flush()


def toggle_save(user_id: int, data: Loaded) -> bool:
    """Save or remove an article. Return whether it is saved now.

    Each call locks the row and toggles it. A double tap therefore saves the article and removes it again.
    """
    statement = insert(SavedArticle).values(user_id=user_id, saved=True, **data)
    toggle = statement.on_conflict_do_update(
        index_elements=["user_id", "url"],
        set_={"saved": ~SavedArticle.saved, "title": statement.excluded.title, "saved_at": sa.func.clock_timestamp()},
    )
    return bool(db.session.scalar(toggle.returning(SavedArticle.saved)))


def list_saved(user_id: int, page: Page) -> Listing[SavedRow]:
    """Return the articles that a user saved, latest first. Only stored articles have an id and a picture."""
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
    """Return the addresses among `urls` that a user has saved."""
    if user_id is None or not urls:
        return set()
    query = sa.select(SavedArticle.url).where(
        SavedArticle.user_id == user_id, SavedArticle.saved, SavedArticle.url.in_(urls)
    )
    return set(db.session.scalars(query))


def _with_is_saved(user_id: int | None, content: sa.SQLColumnExpression[str] = articles.c.content) -> AnySelect:
    columns = [content if column is articles.c.content else column for column in articles.c]
    if user_id is None:
        return sa.select(*columns, sa.false().label("is_saved"))
    saved = (SavedArticle.url == Article.url) & (SavedArticle.user_id == user_id)
    is_saved = sa.func.coalesce(SavedArticle.saved, sa.false()).label("is_saved")
    return sa.select(*columns, is_saved).outerjoin(SavedArticle, saved)


#: Renderer for the text of article announcements.
render = rendering.by_title(Article.id, Article.title, ANNOUNCEMENT)


def _about(article_id: int) -> About:
    return About("article", article_id)


def _one(query: AnySelect) -> ArticleRow:
    row = db.session.execute(query).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    return row
