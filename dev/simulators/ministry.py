"""Simulator of the health ministry's site: a list page and articles, with many variants of HTML and character sets."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, redirect, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Simulator
from dev.simulators.ministry_articles import HOSTILE, Article, articles

#: Variants of the site. Several can be active at once, for example `show("no_jsonld", "no_og")`.
VARIANTS = {
    "emptied": "the list page without articles",
    "redesign": "list and article pages with completely different HTML",
    "no_jsonld": "article pages without JSON-LD",
    "no_og": "article pages without Open Graph",
    "no_article": "article pages without <article> and .entry-content, with the text in plain blocks",
    "no_content": "article pages with <article>, but without .entry-content",
    "broken_jsonld": "article pages with JSON-LD that is not valid JSON",
    "hostile": "article pages with scripts, event handlers, frames and unusual URL schemes in the text",
    "windows-1252": "the whole site in windows-1252, with this charset in the header",
    "utf-16": "the whole site in UTF-16 with a byte-order mark, without a charset in the header",
    "meta_charset": "windows-1252, with this charset only in <meta>",
    "wrong_charset": "UTF-8, with the charset ascii in the header",
}


class Ministry(Simulator):
    """The news pages of the ministry, at `/artikel`.

    `show` selects variants. `articles` contains the articles, newest first.
    """

    name = "ministry"

    def __init__(self) -> None:
        super().__init__()
        self.articles: list[Article] = articles()
        self._shown: set[str] = set()

    def env(self) -> dict[str, str]:
        return {"ARTICLE_SOURCE_URL": f"{self.url}/artikel", "ARTICLE_HOSTS": urlsplit(self.url).netloc}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/artikel")(self._list)
        blueprint.get("/_redirect")(self._redirect)
        blueprint.get("/<path:path>")(self._article)

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"show": lambda variants: self.show(*variants), "publish": self.publish}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.articles = articles()
            self._shown = set()

    def show(self, *variants: str) -> None:
        """Serve these variants of the site until the next call. Without arguments the site is normal."""
        if unknown := set(variants) - set(VARIANTS):
            raise ValueError(f"no such variants: {unknown}")
        with self.lock:
            self._shown = set(variants)

    def publish(self, slug: str, title: str, text: str = "<p>Isi.</p>", *, dated: bool = True) -> str:
        number = 9000 + len(self.articles)
        article = Article(slug, title, text, day="20260301", number=number if dated else None)
        with self.lock:
            self.articles.insert(0, article)
        return self.address(article)

    def address(self, article: Article) -> str:
        return self.url + article.path

    # --- routes of the site ---

    def _list(self) -> ResponseReturnValue:
        if "redesign" in self._shown:
            return self._send("<title>Portal</title>", "<div id='app'></div><script src='/x.js'></script>")
        cards = "" if "emptied" in self._shown else "".join(self._card(each) for each in self.articles)
        body = f"""
<header><nav>
  <a href="/ministry/artikel">Artikel</a> <a href="/ministry/tentang-kami-dan-tim">Tentang Kami dan Tim</a>
  <a href="https://www.facebook.com/kemenkes-republik-indonesia">Facebook</a>
</nav></header>
<main>{cards}
  <nav class="pagination"><a href="/ministry/artikel?page=2">2</a> <a href="?page=2">Berikutnya</a></nav>
</main>
<aside>
  <h3><a href="/ministry/baca/iklan/notadate/x/">Iklan</a></h3> <a href="javascript:alert(1)">Tutup</a>
</aside>
<footer>
  <a href="/ministry/kebijakan-privasi-situs">Kebijakan privasi</a> <a href="mailto:a@example.org">Surel</a>
</footer>"""
        return self._send("<title>Artikel</title>", body)

    def _card(self, article: Article) -> str:
        # As on the real site, there are three links to one article: a link with tracking parameters, a relative link,
        # and a link without a scheme. The picture has lazy loading.
        title, host = html.escape(article.title), urlsplit(self.url).netloc
        return f"""
<article class="post">
  <a href="/ministry{article.path}?utm_source=beranda&amp;utm_medium=kartu">
    <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="
      data-src="/ministry{article.picture}" alt="{title}"></a>
  <h2 class="entry-title"><a href=".{article.path}">{title}</a></h2>
  <a class="more" href="//{host}/ministry{article.path}#isi">Baca selengkapnya</a>
</article>"""

    def _article(self, path: str) -> ResponseReturnValue:
        article = next((each for each in self.articles if each.path == f"/{path}"), None)
        if article is None:
            abort(404)
        shown = self._shown
        if "redesign" in shown:
            return self._send("<title>Portal</title>", "<div id='app'></div>")
        title = html.escape(article.title)
        head = f"<title>{title} | Kementerian Kesehatan</title>"
        if "no_og" not in shown:
            head += self._open_graph(article)
        if "no_jsonld" not in shown:
            head += self._json_ld(article)
        text = article.text + (HOSTILE if "hostile" in shown else "")
        if "no_article" in shown:
            content = f"<div class='x1'><h1>{title}</h1><div class='x2'>{text}</div></div>"
        else:
            content = f"""
<article class="post">
  <h1 class="entry-title">{title}</h1>
  <div class="share"><a href="https://wa.me/?text=x">Bagikan</a></div>
  <div class="{"x1" if "no_content" in shown else "entry-content"}">{text}</div>
</article>"""
        body = f"""
<header><nav><a href="/ministry/artikel">Artikel</a></nav></header>{content}
<aside><h3>Terkait</h3><a href="/ministry/artikel">Semua artikel</a></aside>
<footer>Hak cipta Kementerian</footer>"""
        return self._send(head, body)

    def _open_graph(self, article: Article) -> str:
        properties = {
            "og:type": "article",
            "og:title": article.title,
            "og:url": self.address(article),
            "og:image": self.url + article.picture,
            "article:published_time": article.published,
        }
        tags = (f'<meta property="{name}" content="{html.escape(text)}">' for name, text in properties.items())
        return "".join(tags)

    def _json_ld(self, article: Article) -> str:
        if "broken_jsonld" in self._shown:
            return '<script type="application/ld+json">{"@type": "NewsArticle", "headline": </script>'
        news = {
            "@type": "NewsArticle",
            "headline": article.title,
            "datePublished": article.published,
            "image": [self.url + article.picture],
            "author": {"@type": "Organization", "name": "Kementerian Kesehatan"},
        }
        graph = {"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "Kemenkes"}, news]}
        text = json.dumps(graph).replace("</", "<\\/")  # An unescaped "</" could end the script element.
        return f'<script type="application/ld+json">{text}</script>'

    def _send(self, head: str, body: str) -> ResponseReturnValue:
        shown = self._shown
        meta = '<meta charset="windows-1252">' if "meta_charset" in shown else ""
        page = f"<!DOCTYPE html>\n<html lang='id'><head>{meta}{head}</head>\n<body>{body}</body></html>"
        if "utf-16" in shown:
            return Response(page.encode("utf-16"), content_type="text/html")
        if "wrong_charset" in shown:
            return Response(page.encode(), content_type="text/html; charset=ascii")
        if shown & {"windows-1252", "meta_charset"}:
            said = "; charset=windows-1252" if "windows-1252" in shown else ""
            return Response(page.encode("cp1252", "xmlcharrefreplace"), content_type=f"text/html{said}")
        return Response(page.encode(), content_type="text/html; charset=UTF-8")

    def _redirect(self) -> ResponseReturnValue:
        """Redirect to the address in `?to=`. Many large sites have such an open redirect."""
        return redirect(request.args["to"])
