"""Articles: those of the health ministry, live, and our own."""

from __future__ import annotations

from typing import Any

from app.articles import live, schemas, service
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, caller, caller_id, optional, requires
from app.identity.models import RoleName

bp = Blueprint("articles", __name__, url_prefix="/articles", description="Articles: the ministry's, live, and our own")


@bp.get("")
@optional
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.LiveArticleSchema(many=True))
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def list_live(page: Page) -> Any:
    """The articles that the health ministry's site lists now."""
    return live.list_articles(page, caller_id())


@bp.get("/detail")
@optional
@limit("60 per minute")
@bp.arguments(schemas.ArticleUrlQuerySchema, location="query")
@bp.response(200, schemas.LiveArticleDetailSchema)
@bp.alt_response(404, "NOT_FOUND")
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def get_live(query: dict[str, str]) -> Any:
    """One article of the ministry's site, by its address."""
    return live.get_article(query["url"], caller_id())


@bp.get("/all")
@optional
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.ArticleSchema(many=True))
def list_stored(page: Page) -> Any:
    """The stored articles, newest first."""
    return service.list_articles(page, caller_id())


@bp.get("/search")
@optional
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.ArticleTitleQuerySchema, location="query")
@bp.response(200, schemas.ArticleSchema(many=True))
def search(page: Page, query: dict[str, str]) -> Any:
    """The stored articles whose title contains a text."""
    return service.list_articles(page, caller_id(), query["title"])


@bp.get("/url")
@optional
@bp.arguments(schemas.StoredArticleUrlQuerySchema, location="query")
@bp.response(200, schemas.ArticleSchema)
@bp.alt_response(404, "NOT_FOUND")
def get_by_url(query: dict[str, str]) -> Any:
    """The stored article with an address."""
    return service.get_article_by_url(query["url"], caller_id())


@bp.post("/save")
@authenticated
@bp.arguments(schemas.ArticleSaveSchema)
@bp.response(200, schemas.ArticleIsSavedSchema)
def toggle_save(data: dict[str, str]) -> dict[str, bool]:
    """Save an article, or take it back."""
    return {"is_saved": service.toggle_save(caller.id, data)}


@bp.get("/saved")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.SavedArticleSchema(many=True))
def list_saved(page: Page) -> Any:
    """What the caller saved, latest first."""
    return service.list_saved(caller.id, page)


@bp.post("")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ArticleForm, location="multipart")
@bp.response(201, schemas.ArticleSchema)
@bp.alt_response(409, "CONFLICT")
def create_article(data: dict[str, Any]) -> Any:
    """Add an article; it is announced to everybody after a while."""
    return service.create_article(data)


@bp.get("/<int:article_id>")
@optional
@bp.response(200, schemas.ArticleSchema)
def get_article(article_id: int) -> Any:
    """One stored article."""
    return service.get_article(article_id, caller_id())


@bp.put("/<int:article_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.ArticleEdit, location="multipart")
@bp.response(200, schemas.ArticleSchema)
@bp.alt_response(409, "CONFLICT")
def update_article(data: dict[str, Any], article_id: int) -> Any:
    """Change an article; what is not sent stays."""
    return service.update_article(article_id, data, caller.id)


@bp.delete("/<int:article_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_article(article_id: int) -> dict[str, str]:
    """Delete an article and its picture."""
    service.delete_article(article_id)
    return {"message": "Artikel dihapus."}
