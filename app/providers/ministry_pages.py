"""Parsers for the ministry's pages. Each parser is a pure function from HTML to a typed result.

The title, picture and date of an article are read from JSON-LD, else from Open Graph tags. The text is read from the
element `.entry-content`, else from `<article>`.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from app.core.lib.html import sanitise
from app.core.lib.local_time import JAKARTA
from app.core.lib.urls import canonical
from app.providers.responses import moment

Element = Any  # lxml has no type hints

#: Maximum number of articles in one list.
MAX_HEADLINES = 100
MAX_TITLE = 300

#: Links that may lead to articles: all links except those in navigation, header, footer and similar parts.
LINKS = (
    "//a[@href][not(ancestor::nav or ancestor::aside or ancestor::footer or ancestor::form"
    " or ancestor::header[not(ancestor::article)]"
    " or ancestor::*[contains(@class, 'menu') or contains(@class, 'footer') or contains(@class, 'breadcrumb')])]"
)
#: Address patterns of an article: on any allowed host, or one name of several words in the folder of the list page.
DATED = r".*/baca/[^/]+/\d{8}/\d+/[^/]+/?"
PLAIN = r"[a-z0-9]+(?:-[a-z0-9]+)+/?"
#: Elements with an article's text, the best first.
BLOCKS = ("//*[contains(concat(' ', normalize-space(@class), ' '), ' entry-content ')]", "//article")
#: Elements that are inside a text block but are not part of the article.
CLUTTER = (
    ".//script | .//style | .//nav | .//aside | .//form | .//header | .//footer | .//h1"
    " | .//*[contains(concat(' ', normalize-space(@class), ' '), ' share ')]"
)
ARTICLE_TYPES = ("NewsArticle", "Article", "BlogPosting", "ReportageNewsArticle", "MedicalWebPage")
#: Characters that XML forbids. lxml can parse a text with such a character, but cannot move the text in the tree.
UNMOVABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
GENERIC = re.compile(r"(baca|lihat|read)?\s*(selengkapnya|lengkap|more|semua|detail)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Headline:
    """An article in the list page: title, address and picture."""

    title: str
    url: str
    image: str | None


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """An article. `content` is sanitised HTML, and `published_at` is a time in RFC 3339 format."""

    title: str
    url: str
    content: str
    image: str | None
    published_at: str | None


# --- list page ---


def read_list(text: str, url: str, allowed: Callable[[str], bool]) -> list[Headline]:
    """Return the articles that a list page links to, without duplicates and in the order of the page."""
    tree = _parse(text)
    if tree is None:
        return []
    is_article = re.compile(f"{DATED}|{re.escape(canonical('./', url))}{PLAIN}").fullmatch
    links: dict[Element, str] = {}
    for link in tree.xpath(LINKS):
        address = (_address(link.get("href"), url) or "").partition("?")[0]
        if is_article(address) and allowed(address) and address.rstrip("/") != url.rstrip("/"):
            links[link] = address
    rows = (_headline(address, links, url) for address in dict.fromkeys(links.values()))
    return [row for row in rows if row][:MAX_HEADLINES]


def _headline(address: str, all_links: dict[Element, str], base: str) -> Headline | None:
    """Return the headline of an article from all its links and its card.

    The card is the largest element that contains the first link, but no link to another article.
    """
    links = [link for link, other in all_links.items() if other == address]
    card = links[0]
    for parent in card.iterancestors():
        if any(all_links.get(other, address) != address for other in parent.iter("a")):
            break
        card = parent
    headings = [_line(each) for link in links for each in link.xpath("ancestor::*[self::h1 or self::h2 or self::h3]")]
    texts = sorted((_line(link) for link in links), key=len, reverse=True)
    titles = [*headings, *texts, *card.xpath(".//img/@alt")]
    title = next((each for each in titles if not GENERIC.fullmatch(each.strip())), None)
    images = (_picture(image, base) for image in card.iter("img"))
    return Headline(_title(title), address, next(filter(None, images), None)) if title else None


def _picture(image: Element, base: str) -> str | None:
    """Return the address of a picture. On a page with lazy loading, the attribute `src` is only a placeholder."""
    candidates = (image.get(name) for name in ("data-src", "data-lazy-src", "src"))
    return next((found for each in candidates if (found := _address(each, base))), None)


# --- article page ---


def read_article(text: str, url: str, allowed: Callable[[str], bool]) -> ArticlePage | None:
    """Return the article of a page, or `None` if the page has no title or no text."""
    tree = _parse(text)
    if tree is None:
        return None
    news = _json_ld(tree)
    title = _first(news.get("headline"), _meta(tree, "og:title"))
    content = _content(tree, url, allowed)
    if title is None or content is None:
        return None
    return ArticlePage(
        title=_title(title),
        url=url,
        content=content,
        image=_address(_first(_image(news.get("image")), _meta(tree, "og:image")), url),
        published_at=moment(_first(news.get("datePublished"), _meta(tree, "article:published_time")), JAKARTA),
    )


def _content(tree: Element, url: str, allowed: Callable[[str], bool]) -> str | None:
    """Return the sanitised text of the best block. Of several blocks of a kind, the longest is the best."""
    blocks = next(filter(None, map(tree.xpath, BLOCKS)), None)
    if blocks is None:
        return None
    for clutter in (each for block in blocks for each in block.xpath(CLUTTER)):
        clutter.drop_tree()
    block = max(blocks, key=lambda each: len(_line(each)))
    if not _line(block) and block.find(".//img") is None:
        return None
    for link in block.iter("a"):
        address = _address(link.get("href"), url) or _other_scheme(link.get("href"))
        link.attrib.pop("href", None)
        if address:
            link.set("href", address)
    for image in list(block.iter("img")):
        address = _picture(image, url)
        if address and (address.startswith("https://") or allowed(address)):
            image.set("src", address)
        else:
            image.drop_tree()
    markup = lxml_html.tostring(block, encoding="unicode", with_tail=False)
    return sanitise(markup, picture_allowed=allowed) or None


# --- helpers ---


def _parse(text: str) -> Element | None:
    """Return the element tree of a page, or `None` if it cannot be parsed.

    The string is encoded first, because lxml rejects a string that declares an encoding.
    """
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = lxml_html.document_fromstring(_readable(text).encode(), parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    for element in tree.iter():
        element.text = UNMOVABLE.sub(" ", element.text) if element.text else None
        element.tail = UNMOVABLE.sub(" ", element.tail) if element.tail else None
    return tree


def _json_ld(tree: Element) -> dict[str, object]:
    """Return the news article in the JSON-LD of a page, or an empty dict if the page has none."""
    for block in tree.xpath("//script[@type='application/ld+json']"):
        try:
            data = json.loads(block.text or "")
        except (ValueError, RecursionError):
            continue
        for node in _nodes(data):
            kinds = node.get("@type")
            if any(kind in ARTICLE_TYPES for kind in (kinds if isinstance(kinds, list) else [kinds])):
                return node
    return {}


def _nodes(data: object) -> Iterator[dict[str, object]]:
    """Yield the top-level objects of a JSON-LD block, and the objects of their `@graph`."""
    for node in data if isinstance(data, list) else [data]:
        if isinstance(node, dict):
            yield node
            graph = node.get("@graph")
            yield from (each for each in (graph if isinstance(graph, list) else []) if isinstance(each, dict))


def _image(value: object) -> object:
    while isinstance(value, list) and value:
        value = value[0]
    return value.get("url") if isinstance(value, dict) else value


def _meta(tree: Element, name: str) -> str | None:
    contents = tree.xpath("//meta[@property=$name or @name=$name]/@content", name=name)
    return str(contents[0]) if contents else None


def _first(*values: object) -> str | None:
    """Return the first value that is a non-blank string."""
    texts = (_readable(value) for value in values if isinstance(value, str))
    return next((text for text in texts if text.strip()), None)


def _readable(text: str) -> str:
    """Return the text without NULs and lone surrogates. JSON and PostgreSQL cannot contain these characters."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


def _title(text: str) -> str:
    """Return a title on one line. Unescape entities that are left, because some pages encode their titles twice."""
    return " ".join(html.unescape(text).split())[:MAX_TITLE]


def _line(element: Element) -> str:
    """Return the text of an element with its descendants, on one line."""
    return " ".join(str(element.xpath("string()")).split())


def _address(value: str | None, base: str) -> str | None:
    try:
        return canonical(value, base) if value else None
    except ValueError:
        return None


def _other_scheme(value: str | None) -> str | None:
    text = (value or "").strip()
    return text if text.isprintable() and re.match(r"(mailto|tel):\S+\Z", text, re.IGNORECASE) else None
