"""The ministry's own articles, as they stand there now or stood there lately."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import current_app

from app.articles import service
from app.core.errors import BadRequest, NotFound
from app.core.settings import settings
from app.core.web.pagination import Listing, Page
from app.providers.cache import Cache
from app.providers.errors import answering
from app.providers.ministry import Ministry, UrlNotAllowed
from app.providers.ministry_pages import Headline
from app.providers.ministry_pages import Page as Found

FRESH_S = 15 * 60

lists: Cache[list[Headline]] = Cache("ministry_list", lambda rows: [Headline(**row) for row in rows], fresh_s=FRESH_S)
pages: Cache[Found | None] = Cache("ministry_page", lambda page: page and Found(**page), fresh_s=FRESH_S)


def list_articles(page: Page, user_id: int | None) -> Listing[Any]:
    """The site's list, in its order, with what this person saved."""
    ministry = _ministry()
    with answering():
        rows = lists.get(settings.article_source_url, ministry.headlines)
    shown = rows[page.offset : page.offset + page.size]
    saved = service.saved_among(user_id, [row.url for row in shown])
    return Listing([{**asdict(row), "is_saved": row.url in saved} for row in shown], len(rows), page)


def get_article(url: str, user_id: int | None) -> dict[str, Any]:
    """One article by its address. `BadRequest` (`url_not_allowed`) for addresses outside the configured hosts."""
    ministry = _ministry()
    try:
        address = ministry.allowed(url)
        with answering():
            page = pages.get(address, lambda: ministry.article(address))
    except UrlNotAllowed:
        raise BadRequest("Alamat tersebut tidak diizinkan.", code="url_not_allowed") from None
    if page is None:
        raise NotFound(service.MISSING)
    return {**asdict(page), "is_saved": address in service.saved_among(user_id, [address])}


def _ministry() -> Ministry:
    found: Ministry | None = current_app.extensions.get("ministry")
    if found is None:
        found = current_app.extensions["ministry"] = Ministry.from_config(settings)
    return found
