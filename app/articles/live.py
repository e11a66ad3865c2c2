"""Articles on the health ministry's site, from the cache or the site. If the site fails, a stale value is returned."""

from __future__ import annotations

from functools import cache

from app.core.errors import BadRequest, NotFound
from app.core.settings import current
from app.providers.cache import Cache
from app.providers.errors import answering
from app.providers.ministry import Ministry, UrlNotAllowed
from app.providers.ministry_pages import ArticlePage as LiveArticle
from app.providers.ministry_pages import Headline

NOT_FOUND = "Artikel tidak ditemukan."

#: Seconds for which a cached list or article is fresh.
FRESH_S = 15 * 60

lists: Cache[list[Headline]] = Cache("ministry_list", lambda rows: [Headline(**row) for row in rows], fresh_s=FRESH_S)
pages: Cache[LiveArticle | None] = Cache("ministry_page", lambda page: page and LiveArticle(**page), fresh_s=FRESH_S)


client = cache(Ministry.from_config)


def list_all() -> list[Headline]:
    """Return the site's list of articles, in the order of the site."""
    ministry = client(current())
    with answering():
        return lists.get(current().article_source_url, ministry.headlines)


def get(url: str) -> LiveArticle:
    """Return one article by its address, with the canonical address in `url`.

    Raise `BadRequest` (`url_not_allowed`) for an address outside the configured hosts. Raise `NotFound` if the site has
    no such article.
    """
    ministry = client(current())
    try:
        address = ministry.allowed(url)
        with answering():
            article = pages.get(address, lambda: ministry.article(address))
    except UrlNotAllowed:
        raise BadRequest("Alamat tersebut tidak diizinkan.", code="url_not_allowed") from None
    if article is None:
        raise NotFound(NOT_FOUND)
    return article
