"""Articles, live and stored, and the articles that a user saved."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from app.articles import live
from app.articles.models import Article, articles
from app.core.database.session import AnySelect, assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, NotFound, ValidationFailed
from app.core.lib.html import sanitise
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, containing, cut_in_sql, paginate_rows
from app.kategori.schemas import KategoriFilter
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.models import About
from app.saved import service as saved
from app.saved.models import Kind, Saved

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
    own = saved.among(user_id, Kind.ARTICLE, [headline.url for headline in shown])
    rows = [{**asdict(headline), "is_saved": headline.url in own} for headline in shown]
    return Listing(rows, len(headlines), page)


def get_live(url: str, user_id: int | None) -> dict[str, object]:
    """Return the article with this address on the ministry's site, with `is_saved` for this user."""
    article = live.get(url)
    return {**asdict(article), "is_saved": article.url in saved.among(user_id, Kind.ARTICLE, [article.url])}


def list_all(search: KategoriFilter, user_id: int | None) -> Listing[dict[str, object]]:
    """Return stored articles, newest first. `search.q` is a part of the title.

    A text that was cut is sanitised again, so that each of its tags is closed.
    """
    query = _with_is_saved(user_id, cut_in_sql(articles.c.content, search.page)).order_by(Article.id.desc())
    if search.kategori_id is not None:
        query = query.where(Article.kategori_id == search.kategori_id)
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


def toggle_save(user_id: int, data: Loaded) -> bool:
    return saved.toggle(user_id, Kind.ARTICLE, data["url"], title=data["title"])


def list_saved(user_id: int, page: Page) -> Listing[SavedRow]:
    """Return the articles that a user saved, latest first. Only stored articles have an id and a picture."""
    query = sa.select(
        Article.id, Saved.title, Saved.item.label("url"), Article.image, Saved.saved.label("is_saved"), Saved.saved_at
    ).outerjoin(Article, Article.url == Saved.item)
    return paginate_rows(saved.listed(query, user_id, Kind.ARTICLE), page)


def _with_is_saved(user_id: int | None, content: sa.SQLColumnExpression[str] = articles.c.content) -> AnySelect:
    columns = [content if column is articles.c.content else column for column in articles.c]
    return sa.select(*columns, saved.is_saved(user_id, Kind.ARTICLE, Article.url))


#: Renderer for the text of article announcements.
render = rendering.by_title(Article.id, Article.title, ANNOUNCEMENT)


def _about(article_id: int) -> About:
    return About("article", article_id)


def _one(query: AnySelect) -> ArticleRow:
    row = db.session.execute(query).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    return row
