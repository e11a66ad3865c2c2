"""Client for the health ministry's site: the list of articles, and one article by its address.

Addresses come from pages and users, so each address is checked before the request. This includes targets of redirects.
An address must use https and a configured host. The origin of the configured source is also allowed, even with http.
All URL parsers must interpret the address in the same way.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from typing import Self

from app.core.lib.urls import canonical, netloc_of
from app.providers.http import Http, policy_of
from app.providers.ministry_pages import ArticlePage, Headline, read_article, read_list
from app.providers.ministry_selectors import DEFAULTS, Selectors
from app.providers.responses import ProviderError, ProviderResponse
from config import Config

BUDGET_S = 7.0
HTML_TYPES = ("text/html", "application/xhtml+xml")


class UrlNotAllowed(ValueError):
    """Error: the address is not on a configured host, or is not a valid address."""


class Ministry:
    """Client for the site. A failure or a page without content raises `ProviderError`."""

    def __init__(self, source_url: str, hosts: tuple[str, ...], http: Http, selectors: Selectors = DEFAULTS) -> None:
        self._source = canonical(source_url)
        self._origin = netloc_of(self._source)
        self._hosts = frozenset(host.lower() for host in hosts) or frozenset({self._origin[1]})
        self._http = http
        self._selectors = selectors

    @classmethod
    def from_config(cls, config: Config) -> Self:
        http = Http(
            "ministry",
            policy=policy_of(config, "article_source_url"),
            headers={"Accept": "text/html", "Accept-Language": "id"},
            budget_s=BUDGET_S,
            parallel=6,
        )
        return cls(config.article_source_url, config.article_hosts, http)

    def allowed(self, url: str) -> str:
        """Return the canonical form of an address. Raise `UrlNotAllowed` if it must not be fetched."""
        try:
            address = canonical(url)
        except ValueError:
            raise UrlNotAllowed(url) from None
        scheme, netloc = netloc_of(address)
        if (scheme, netloc) != self._origin and (scheme != "https" or netloc not in self._hosts):
            raise UrlNotAllowed(url)
        return address

    def headlines(self) -> list[Headline]:
        """Return the articles of the list page in its order, without duplicates."""
        try:
            response = self._fetch(self._source)
        except UrlNotAllowed:
            raise ProviderError("ministry", "redirect", permanent=True) from None
        articles = read_list(text_of(response), response.url, self._selectors, self._is_allowed)
        if not articles:
            # The site was redesigned, is empty, or is another site. Treat it as a failure, so that the cache can
            # answer.
            raise ProviderError("ministry", "garbage", reason="the list holds no articles")
        return articles

    def article(self, url: str) -> ArticlePage | None:
        """Return the article at an address, or `None` if the site has no page there.

        Raise `UrlNotAllowed` for a forbidden address or redirect target.
        """
        address = self.allowed(url)
        try:
            response = self._fetch(address)
        except ProviderError as error:
            if error.status in (404, 410):
                return None
            raise
        page = read_article(text_of(response), canonical(response.url), self._selectors, self._is_allowed)
        if page is None:
            raise ProviderError("ministry", "garbage", reason="the page holds no article")
        # Return the requested address, not the target of a redirect, because callers use the requested address.
        return replace(page, url=address)

    def _is_allowed(self, url: str) -> bool:
        try:
            self.allowed(url)
        except UrlNotAllowed:
            return False
        return True

    def _fetch(self, address: str) -> ProviderResponse:
        # A redirect to another host raises `UrlNotAllowed`.
        response = self._http.fetch("GET", address, may_follow=lambda target: bool(self.allowed(target)))
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() not in HTML_TYPES:
            raise ProviderError("ministry", "garbage", reason="not a page")
        return response


def text_of(response: ProviderResponse) -> str:
    """Decode the page. UTF-8 is tried before the declared charset, because sites often declare a wrong one."""
    body = response.body
    in_page = re.search(rb"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", body[:2048], re.IGNORECASE)
    content_type = response.headers.get("Content-Type", "")
    in_header = re.search(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", content_type, re.IGNORECASE)
    charsets = (in_header and in_header[1], in_page and in_page[1].decode("ascii", "ignore"))
    declared = [name for name in charsets if name]
    wide = [name for name in declared if name.lower().startswith(("utf-16", "utf16", "utf-32", "utf32", "ucs"))]
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if body.startswith(mark):
            wide = [name]
    # A body that decodes as UTF-8 is UTF-8, whatever the site declares. Only UTF-16 and UTF-32 are tried before
    # UTF-8, because a body in these encodings could also decode as UTF-8.
    for name in [*wide, "utf-8", *declared, "windows-1252"]:
        try:
            return body.decode(name)
        except (UnicodeError, LookupError):
            continue
    return body.decode("windows-1252", "replace")
