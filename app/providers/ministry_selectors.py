"""Selectors for the elements of the ministry's pages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selectors:
    """XPath expressions and address patterns. Another site needs other values."""

    #: Links that may lead to articles: all links except those in navigation, header, footer and similar parts.
    links: str = (
        "//a[@href][not(ancestor::nav or ancestor::aside or ancestor::footer or ancestor::form"
        " or ancestor::header[not(ancestor::article)]"
        " or ancestor::*[contains(@class, 'menu') or contains(@class, 'footer') or contains(@class, 'breadcrumb')])]"
    )
    #: Address pattern of an article: the end of the path, on any allowed host.
    dated: str = r"/baca/[^/]+/\d{8}/\d+/[^/]+/?"
    #: Second address pattern of an article: one name of at least two words, in the folder of the list page.
    plain: str = r"[a-z0-9]+(?:-[a-z0-9]+)+/?"
    #: Blocks that are certain to contain an article's text, even if the text is short. The best block is first.
    named: tuple[str, ...] = (
        "//*[contains(concat(' ', normalize-space(@class), ' '), ' entry-content ')]",
        "//*[@itemprop='articleBody']",
    )
    #: Blocks that contain the article's text only if they are long enough.
    likely: str = "//article"
    #: Elements that are inside a text block but are not part of the article.
    clutter: str = (
        ".//script | .//style | .//nav | .//aside | .//form | .//header | .//footer | .//h1"
        " | .//*[contains(concat(' ', normalize-space(@class), ' '), ' share ')]"
    )


DEFAULTS = Selectors()
