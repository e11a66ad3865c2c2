"""Sanitizer for HTML from other sites. Its result may be inserted into a page without escaping."""

from __future__ import annotations

from collections.abc import Callable

import nh3

#: Maximum characters of the input. The rest is cut off.
MAX_LENGTH = 200_000

# fmt: off
TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "blockquote", "strong", "b", "em", "i", "u", "sub", "sup", "a",
    "img", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td",
}
#: Elements that are removed together with their content. For other unknown elements, only the tags are removed.
DROPPED = {
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "form", "button", "select",
    "textarea", "title",
}
# fmt: on
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "th": {"colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
}


def sanitise(html: str, *, picture_allowed: Callable[[str], bool] | None = None) -> str:
    """Return safe HTML.

    Links may use http, https, mailto or tel. Pictures may use https, or an address that `picture_allowed` accepts.
    """

    def keep(tag: str, name: str, value: str) -> str | None:
        if (tag, name) == ("img", "src") and not value.startswith("https://"):
            return value if picture_allowed and picture_allowed(value) else None
        return value

    return nh3.clean(
        html[:MAX_LENGTH],
        tags=TAGS,
        clean_content_tags=DROPPED,
        attributes=ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"http", "https", "mailto", "tel"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    ).strip()
