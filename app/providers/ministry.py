"""Client for the health ministry's site: the list of articles, and one article by its address.

Addresses come from pages and users, so each address is checked before the request. This includes targets of redirects.
An address must use https and a configured host. The origin of the configured source is also allowed, even with http.
All URL parsers must interpret the address in the same way.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Self

from app.core.lib.urls import canonical, netloc_of
from app.providers.http import Http
from app.providers.ministry_pages import ArticlePage, Headline, read_article, read_list
from app.providers.responses import ProviderError, ProviderResponse
from config import Config

BUDGET_S = 6.0
MAX_REDIRECTS = 5
HTML_TYPES = ("text/html", "application/xhtml+xml")


class UrlNotAllowed(ValueError):
    """Error: the address is not on a configured host, or is not a valid address."""


class Ministry:
    """Client for the site. A failure or a page without content raises `ProviderError`."""

    def __init__(self, source_url: str, hosts: tuple[str, ...], http: Http) -> None:
        self._source = canonical(source_url)
        self._origin = netloc_of(self._source)
        self._hosts = frozenset(host.lower() for host in hosts) or frozenset({self._origin[1]})
        self._http = http

    @classmethod
    def from_config(cls, config: Config) -> Self:
        http = Http(
            "ministry",
            headers={"Accept": "text/html", "Accept-Language": "id"},
            budget_s=BUDGET_S,
            parallel=6,
        )
        return cls(config.article_source_url, config.article_hosts, http)

    def allowed(self, url: str, base: str | None = None) -> str:
        """Return the canonical form of an address. Raise `UrlNotAllowed` if it must not be fetched."""
        try:
            address = canonical(url, base)
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
        articles = read_list(text_of(response), response.url, self._is_allowed)
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
        page = read_article(text_of(response), canonical(response.url), self._is_allowed)
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
        """Return a page, also after redirects. Raise `UrlNotAllowed` if a redirect leads to another host."""
        stop = time.monotonic() + BUDGET_S
        for hops in range(MAX_REDIRECTS + 1):
            try:
                response = self._http.fetch("GET", address, budget_s=stop - time.monotonic())
                break
            except ProviderError as error:
                location = error.response and error.response.headers.get("Location")
                if error.kind != "redirect" or not location or hops == MAX_REDIRECTS:
                    raise
            address = self.allowed(location, address)
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() not in HTML_TYPES:
            raise ProviderError("ministry", "garbage", reason="not a page")
        return response


def text_of(response: ProviderResponse) -> str:
    """Decode the page. UTF-8 is tried before the declared charset, because sites often declare a wrong one.

    A body with NULs is UTF-16, which could also decode as UTF-8.
    """
    head = response.headers.get("Content-Type", "").encode() + response.body[:2048]
    declared = [name.decode() for name in re.findall(rb"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", head, re.IGNORECASE)]
    for name in [*declared, "utf-16"] if b"\0" in response.body[:2048] else ["utf-8-sig", *declared]:
        try:
            return response.body.decode(name)
        except (UnicodeError, LookupError):
            continue
    return response.body.decode("windows-1252", "replace")
