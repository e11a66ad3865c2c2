"""Routes of articles: live from the health ministry's site, and stored ones."""

from __future__ import annotations

from app.articles import schemas, service
from app.articles.service import ArticleRow, SavedRow
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, LongTextsPageSchema, Page, PageSchema
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, by_caller, caller, caller_id, optional, requires
from app.identity.models import RoleName
from app.identity.upload_limits import limit_admin_uploads
from app.kategori.schemas import KategoriFilter, KategoriFilterSchema
from app.saved.schemas import IsSaved

bp = Blueprint(
    "articles", __name__, url_prefix="/articles", description="Articles, live from the ministry's site or stored"
)


@bp.get("")
@optional
@cached(60)
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.LiveArticle(many=True))
def list_live_articles(page: Page) -> Listing[dict[str, object]]:
    """List the articles on the health ministry's site."""
    return service.list_live(page, caller_id())


@bp.get("/detail")
@optional
@cached(60)
@limit("60 per minute")
@bp.arguments(schemas.LiveArticleQuery, location="query")
@bp.response(200, schemas.LiveArticleDetail)
def get_live_article(query: dict[str, str]) -> dict[str, object]:
    """Return one article of the ministry's site by its address."""
    return service.get_live(query["url"], caller_id())


@bp.get("/all")
@optional
@cached(60)
@bp.arguments(KategoriFilterSchema, location="query")
@bp.response(200, schemas.Article(many=True))
def list_articles(search: KategoriFilter) -> Listing[dict[str, object]]:
    """List stored articles, newest first. `q` searches the title.

    The total of a filtered list is at most 10,000.
    """
    return service.list_all(search, caller_id())


@bp.get("/search")
@optional
@cached(60)
@bp.arguments(LongTextsPageSchema, location="query")
@bp.arguments(schemas.ArticleSearch, location="query")
@bp.response(200, schemas.Article(many=True))
def search_articles(page: Page, query: dict[str, str]) -> Listing[dict[str, object]]:
    """List stored articles whose title contains a text."""
    return service.list_all(KategoriFilter(page, query["title"]), caller_id())


@bp.get("/url")
@optional
@cached(60)
@bp.arguments(schemas.ArticleQuery, location="query")
@bp.response(200, schemas.Article)
def get_article_by_url(query: dict[str, str]) -> ArticleRow:
    """Return the stored article with an address."""
    return service.get_by_url(query["url"], caller_id())


@bp.post("/save")
@authenticated
@limit("120 per minute; 2000 per day", key=by_caller)  # limited, because each call may add a permanent row
@bp.arguments(schemas.ArticleSave)
@bp.response(200, IsSaved)
def save_article(data: Loaded) -> dict[str, bool]:
    """Save an article, or remove it if it is saved."""
    return {"is_saved": service.toggle_save(caller.id, data)}


@bp.get("/saved")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.SavedArticle(many=True))
def list_saved_articles(page: Page) -> Listing[SavedRow]:
    """List the articles that the caller saved, latest first."""
    return service.list_saved(caller.id, page)


@bp.post("")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.ArticleCreate, location="multipart")
@bp.response(201, schemas.Article)
def create_article(data: Loaded) -> ArticleRow:
    """Add an article. It is announced to all users later."""
    return service.create(data, caller.id)


@bp.get("/<int:article_id>")
@optional
@cached(60)
@bp.response(200, schemas.Article)
def get_article(article_id: int) -> ArticleRow:
    """Return one stored article."""
    return service.get(article_id, caller_id())


@bp.put("/<int:article_id>")
@requires(RoleName.ADMIN)
@limit_admin_uploads
@bp.arguments(schemas.ArticleUpdate, location="multipart")
@bp.response(200, schemas.Article)
def update_article(data: Loaded, article_id: int) -> ArticleRow:
    """Update an article. Fields that are not sent stay unchanged."""
    return service.update(article_id, data, caller.id)


@bp.delete("/<int:article_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_article(article_id: int) -> dict[str, str]:
    """Delete an article and its picture."""
    service.delete(article_id)
    return {"message": "Artikel dihapus."}
