"""Sanitizer for HTML: the result is small and contains nothing dangerous."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app.core.lib.html import MAX_LENGTH, TAGS, sanitise
from dev.simulators.replayed import RECORDED

HARMFUL = re.compile(
    r"<\s*(script|style|iframe|object|embed|form|input|svg|math|base|meta|link|template)\b", re.IGNORECASE
)


SANITISED = [
    ("<p>Halo <b>dunia</b></p>", "<p>Halo <b>dunia</b></p>"),
    ("<div class=x><p style='a:b' id=y onclick=z>a</p></div>", "<p>a</p>"),
    ("<script>alert(1)</script>a", "a"),
    ("<p>a<!-- b --></p>", "<p>a</p>"),
    ("<a href='https://a.id/' target=_blank>a</a>", '<a href="https://a.id/" rel="noopener noreferrer nofollow">a</a>'),
    ("<a href='JaVa&#9;script:x'>a</a>", '<a rel="noopener noreferrer nofollow">a</a>'),
    ("<img src='https://a.id/b.jpg' alt=c onerror=d>", '<img src="https://a.id/b.jpg" alt="c">'),
    ("<img src='http://10.0.0.1/b.gif'>", "<img>"),
    ("<td colspan=2>a", "a"),
    ("<table><tr><td colspan=2>a</table>", '<table><tbody><tr><td colspan="2">a</td></tr></tbody></table>'),
    ("5 < 6 & 7", "5 &lt; 6 &amp; 7"),
    ("", ""),
]


def test_only_allowed_tags_and_attributes_remain():
    assert [(html, sanitise(html)) for html, _ in SANITISED] == SANITISED


def test_http_pictures_are_kept_only_if_the_caller_allows_them():
    html = "<img src='http://a.id/b.jpg'><img src='http://c.id/d.jpg'>"
    assert sanitise(html, picture_allowed=lambda url: "a.id" in url) == '<img src="http://a.id/b.jpg"><img>'


def test_hostile_html_is_harmless():
    out = sanitise((RECORDED / "hostile.html").read_text(encoding="utf-8"))
    assert not HARMFUL.search(out)
    assert not re.search(r"\son\w+=|script:|data:", out, re.IGNORECASE)


def test_html_over_the_maximum_length_is_truncated():
    assert len(sanitise("a" * (2 * MAX_LENGTH))) == MAX_LENGTH


pieces = st.sampled_from(
    ["<", ">", "</", "/>", "script", "style", "svg", "math", "p", "img", "a", "table", "noscript", "title", " ", "=",
     '"', "'", "href", "src", "onerror", "javascript:", "x", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&#x3c;", "\0",
     "mglyph", "mtext"]
)  # fmt: skip


@given(st.lists(pieces, max_size=40).map("".join))
def test_sanitising_keeps_only_known_tags_and_is_idempotent(html):
    out = sanitise(html)
    assert set(re.findall(r"<\s*/?\s*([a-zA-Z][^\s/>]*)", out)) <= TAGS
    assert sanitise(out) == out
