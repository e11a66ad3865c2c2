"""Canonical form of web addresses, and rejection of invalid addresses."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urllib3.util import parse_url

from app.core.lib.urls import MAX_LENGTH, canonical

CANONICAL = [
    ("https://contoh.id", "https://contoh.id/"),
    ("https://contoh.id/\u2028", "https://contoh.id/"),
    ("  HTTPS://CONTOH.ID:443/A/b  ", "https://contoh.id/A/b"),
    ("http://contoh.id:80/", "http://contoh.id/"),
    ("http://contoh.id:8080/", "http://contoh.id:8080/"),
    ("https://contoh.id/a/./b/../c/", "https://contoh.id/a/c/"),
    ("https://contoh.id/../../x", "https://contoh.id/x"),
    ("https://contoh.id/a/..", "https://contoh.id/"),
    ("https://contoh.id/?utm_source=a&id=5&UTM_Medium=b&fbclid=c", "https://contoh.id/?id=5"),
    ("https://contoh.id/?q=a+b&q=&x=%C3%A9", "https://contoh.id/?q=a+b&q=&x=%C3%A9"),
    ("https://contoh.id/a#isi", "https://contoh.id/a"),
    ("https://contoh.id/é", "https://contoh.id/%C3%A9"),
    ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
]


def test_equivalent_addresses_have_one_canonical_form():
    assert [(address, canonical(address)) for address, _ in CANONICAL] == CANONICAL


LINKS = [
    ("b", "https://contoh.id/x/b"),
    ("../b?utm_id=1", "https://contoh.id/b"),
    ("/b", "https://contoh.id/b"),
    ("//lain.id/b", "https://lain.id/b"),
    ("http://lain.id/b", "http://lain.id/b"),
    ("#isi", "https://contoh.id/x/a"),
]


def test_links_are_resolved_against_their_page():
    assert [(link, canonical(link, "https://contoh.id/x/a")) for link, _ in LINKS] == LINKS


NO_ADDRESSES = (
    "", "contoh.id", "/a", "//contoh.id/", "javascript:alert(1)", "data:text/html,x", "mailto:a@b.id", "ftp://a.id/",
    "https://", "https:///a", "https://a@contoh.id/", "https://a:b@contoh.id/", "https://contoh.id\\a",
    "https://contoh .id/", "https://contoh.id/a b", "https://con\ttoh.id/", "https://contoh.id./",
    "https://.contoh.id/", "https://contoh..id/", "https://contoh.id:x/", "https://contoh.id:99999/", "https://[::1/",
    "https://[fe80::1%25eth0]/", "https://[x]/", "https://contoh.\uff49d/", "https://\u24d2ontoh.id/",
    "https://contoh.id\u3002evil.id/", "https://-contoh.id/", "https://contoh%2eid/",
    "https://contoh.id/" + "a" * MAX_LENGTH, "https://contoh.id/" + "é" * 500,
)  # fmt: skip


def test_an_invalid_web_address_is_refused(subtests):
    for text in NO_ADDRESSES:
        with subtests.test(text), pytest.raises(ValueError, match=r"."):
            canonical(text)


pieces = st.sampled_from(
    ["https://", "http://", "HTTP:", "//", "/", "\\", "@", ":", "?", "#", "..", ".", "%2f", "%", "é", "\u3002",
     "[", "]", "contoh.id", "evil.id", "127.0.0.1", "::1", "443", " ", "\t", "\0", "utm_source=1", "&", "a"]
)  # fmt: skip


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=60).map("https://contoh.id/".__add__))
def test_canonical_is_idempotent_and_two_parsers_agree_on_the_result(address):
    try:
        found = canonical(address)
    except ValueError:
        return
    assert found.isascii()
    assert len(found) <= MAX_LENGTH
    assert canonical(found) == found
    ours, theirs = urlsplit(found), parse_url(found)
    assert (ours.scheme, ours.hostname, ours.port) == (theirs.scheme, (theirs.host or "").strip("[]"), theirs.port)
    assert ours.username is None
