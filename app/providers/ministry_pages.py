"""Parsers for the ministry's pages. Each parser is a pure function from HTML to a typed result.

The title, picture and date of an article are read from JSON-LD, else from Open Graph tags, else from HTML elements. The
text is read from an HTML element. If this element does not contain the text of the JSON-LD, the text of the JSON-LD is
used instead.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, datetime
from itertools import chain
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from app.core.lib.html import sanitise
from app.core.lib.local_time import JAKARTA, rfc3339
from app.core.lib.urls import canonical
from app.providers.ministry_selectors import Selectors

Element = Any  # lxml has no type hints

#: Maximum number of articles in one list.
MAX_HEADLINES = 100
MAX_TITLE = 300

#: Minimum number of characters for an article's text. The blocks of `selectors.named` may be shorter. Other blocks with
#: a shorter text are treated as notices and ignored.
MIN_TEXT = 120

ARTICLE_TYPES = frozenset({"NewsArticle", "Article", "BlogPosting", "ReportageNewsArticle", "MedicalWebPage"})
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


def read_list(text: str, url: str, selectors: Selectors, allowed: Callable[[str], bool]) -> list[Headline]:
    """Return the articles that a list page links to, without duplicates and in the order of the page."""
    tree = _parse(text)
    if tree is None:
        return []
    is_article = re.compile(f".*{selectors.dated}|{re.escape(canonical('./', url))}{selectors.plain}").fullmatch
    links: dict[Element, str] = {}
    for link in tree.xpath(selectors.links):
        address = (_address(link.get("href"), url) or "").partition("?")[0]
        if is_article(address) and allowed(address) and address.rstrip("/") != url.rstrip("/"):
            links[link] = address
    links_of: dict[str, list[Element]] = {}
    for link, address in links.items():
        links_of.setdefault(address, []).append(link)
    rows = (_headline(address, same, links, url) for address, same in links_of.items())
    return [row for row in rows if row][:MAX_HEADLINES]


def _headline(address: str, links: list[Element], all_links: dict[Element, str], base: str) -> Headline | None:
    card = _card(links[0], address, all_links)
    headings = [_line(each) for link in links for each in link.xpath("ancestor::*[self::h1 or self::h2 or self::h3]")]
    texts = sorted((_line(link) for link in links), key=len, reverse=True)
    spoken = [link.get("title") or "" for link in links] + card.xpath(".//img/@alt")
    title = next((each for each in [*headings, *texts, *spoken] if not GENERIC.fullmatch(each.strip())), None)
    if title is None:
        return None
    images = (_picture(image, base) for image in card.iter("img"))
    return Headline(_title(title), address, next((each for each in images if each), None))


def _card(link: Element, address: str, all_links: dict[Element, str]) -> Element:
    """Return the card of an article.

    The card is the largest element that contains the article's link, but no link to another article.
    """
    card = link
    for parent in link.iterancestors():
        if any(all_links.get(other, address) != address for other in parent.iter("a")):
            break
        card = parent
    return card


def _picture(image: Element, base: str) -> str | None:
    """Return the address of a picture. On a page with lazy loading, the attribute `src` is only a placeholder."""
    candidates = [image.get(name) for name in ("data-src", "data-lazy-src", "data-original", "src")]
    candidates.append((image.get("srcset") or "").partition(" ")[0])
    return next((found for each in candidates if (found := _address(each, base))), None)


# --- article page ---


def read_article(text: str, url: str, selectors: Selectors, allowed: Callable[[str], bool]) -> ArticlePage | None:
    """Return the article of a page, or `None` if the page has no title or no text."""
    tree = _parse(text)
    if tree is None:
        return None
    news = _json_ld(tree)
    title = _first(news.get("headline"), _meta(tree, "og:title"), *map(_line, tree.xpath("//h1")))
    content = _content(tree, news, url, selectors, allowed)
    if title is None or content is None:
        return None
    return ArticlePage(
        title=_title(title),
        url=url,
        content=content,
        image=_address(_first(_image(news.get("image")), _meta(tree, "og:image")), url),
        published_at=_moment(_first(news.get("datePublished"), _meta(tree, "article:published_time"))),
    )


def _content(
    tree: Element, news: dict[str, object], url: str, selectors: Selectors, allowed: Callable[[str], bool]
) -> str | None:
    block = _block(tree, selectors)
    body = _first(news.get("articleBody")) or ""
    spoken = _parse(body) if len(body) >= MIN_TEXT else None
    # If the block contains the text of the JSON-LD, use the block, because only the block has headings and lists.
    if spoken is not None and (block is None or _line(spoken)[:60] not in _line(block)):
        paragraphs = [] if "<p" in body else re.split(r"\n\s*\n|\r\n\r\n", body)
        block = _parse("".join(f"<p>{each}</p>" for each in paragraphs) or body)
    if block is None:
        return None
    for link in block.iter("a"):
        _set(link, "href", _address(link.get("href"), url) or _other_scheme(link.get("href")))
    for image in list(block.iter("img")):
        address = _picture(image, url)
        if address and (address.startswith("https://") or allowed(address)):
            _set(image, "src", address)
        else:
            image.drop_tree()
    markup = lxml_html.tostring(block, encoding="unicode", with_tail=False)
    return sanitise(markup, picture_allowed=allowed) or None


def _block(tree: Element, selectors: Selectors) -> Element | None:
    """Return the element that contains the article's text.

    First try the elements from `selectors.named`, and then those from `selectors.likely`. If none is suitable, return
    the element with the longest text directly below it. A named element without a long text, such as an infographic, is
    used only if no named element has a long text.
    """
    named = [element for path in selectors.named for element in tree.xpath(path)]
    likely = tree.xpath(selectors.likely)
    for element in (*named, *likely):
        _declutter(element, selectors)
    blocks = chain(filter(_is_long, named), filter(_shows_something, named), filter(_is_long, likely))
    if (block := next(blocks, None)) is not None:
        return block
    body = tree.find(".//body")
    if body is None:
        return None
    _declutter(body, selectors)
    lengths = [(_own_length(element), element) for element in body.iter("div", "section", "main", "td", "body")]
    length, element = max(lengths, key=lambda pair: pair[0])
    return element if length >= MIN_TEXT else None


def _is_long(element: Element) -> bool:
    return len(_line(element)) >= MIN_TEXT


def _shows_something(element: Element) -> bool:
    return bool(_line(element)) or element.find(".//img") is not None


def _declutter(element: Element, selectors: Selectors) -> None:
    for clutter in element.xpath(selectors.clutter):
        clutter.drop_tree()


def _own_length(element: Element) -> int:
    """Return the number of characters in the paragraphs, lists, quotes and headings directly below an element."""
    return sum(len(_line(child)) for child in element if child.tag in ("p", "ul", "ol", "blockquote", "h2", "h3"))


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
        if element.text and UNMOVABLE.search(element.text):
            element.text = UNMOVABLE.sub(" ", element.text)
        if element.tail and UNMOVABLE.search(element.tail):
            element.tail = UNMOVABLE.sub(" ", element.tail)
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
            if any(kind in ARTICLE_TYPES for kind in (kinds if isinstance(kinds, list) else [kinds]) if _first(kind)):
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


def _set(element: Element, name: str, value: str | None) -> None:
    if value:
        element.set(name, value)
    else:
        element.attrib.pop(name, None)


def _moment(value: str | None) -> str | None:
    """Return a time of the site in RFC 3339 format. A time without a time zone is Jakarta time."""
    try:
        moment = datetime.fromisoformat(value.strip()) if value else None
    except ValueError:
        return None
    if moment is None or not 1900 <= moment.year < MAXYEAR:  # a time near year 9999 may overflow in UTC
        return None
    return rfc3339(moment if moment.tzinfo else moment.replace(tzinfo=JAKARTA))
