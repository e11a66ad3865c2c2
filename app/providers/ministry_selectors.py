"""Where the ministry's site keeps what its pages hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selectors:
    """Where the site keeps things; XPath. Another site needs other ones."""

    #: Links that may lead to articles: whatever does not stand in the page's frame.
    links: str = (
        "//a[@href][not(ancestor::nav or ancestor::aside or ancestor::footer or ancestor::form"
        " or ancestor::header[not(ancestor::article)]"
        " or ancestor::*[contains(@class, 'menu') or contains(@class, 'footer') or contains(@class, 'breadcrumb')])]"
    )
    #: Addresses of articles: a path that ends so on any allowed host ...
    dated: str = r"/baca/[^/]+/\d{8}/\d+/[^/]+/?"
    #: ... or one name, of several words, in the folder of the list page.
    plain: str = r"[a-z0-9]+(?:-[a-z0-9]+)+/?"
    #: Blocks whose name says that they hold an article's text, however short it is, best first.
    named: tuple[str, ...] = (
        "//*[contains(concat(' ', normalize-space(@class), ' '), ' entry-content ')]",
        "//*[@itemprop='articleBody']",
    )
    #: Blocks that hold it if it is long enough.
    likely: str = "//article"
    #: What stands inside such a block and is not text of the article.
    clutter: str = (
        ".//script | .//style | .//nav | .//aside | .//form | .//header | .//footer | .//h1"
        " | .//*[contains(concat(' ', normalize-space(@class), ' '), ' share ')]"
    )


DEFAULTS = Selectors()
