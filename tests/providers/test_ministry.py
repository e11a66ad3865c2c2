"""Tests of the client of the ministry's website, with a simulator of the website."""

import json
import re
from dataclasses import asdict, replace

import pytest

from app.providers.ministry import BUDGET_S, Ministry, UrlNotAllowed, text_of
from app.providers.ministry_pages import read_article
from app.providers.responses import ProviderError, ProviderResponse
from config import Config


@pytest.fixture
def ministry(sim):
    return Ministry.from_config(Config.from_env({"ENVIRONMENT": "testing", **sim.env}))


def first(sim):
    return sim.ministry.address(sim.ministry.articles[0])


def rewrite(sim, text):
    """Replace the text of the first article, as an editor would."""
    sim.ministry.articles[0] = replace(sim.ministry.articles[0], text=text)


def test_headlines_are_in_order_without_duplicates_and_with_absolute_urls(sim, ministry):
    found = ministry.headlines()
    assert [row.url for row in found] == [sim.ministry.address(each) for each in sim.ministry.articles]
    assert [row.title for row in found] == [each.title for each in sim.ministry.articles]
    assert [row.image for row in found] == [sim.ministry.url + each.picture for each in sim.ministry.articles]


@pytest.mark.parametrize("charset", ["windows-1252", "utf-16", "meta_charset", "wrong_charset"])
def test_headlines_and_articles_are_decoded_from_any_charset(sim, ministry, charset):
    sim.ministry.show(charset)
    assert ministry.headlines()[2].title == "Kesehatan Jiwa Remaja – “Cerita, Yuk!”"
    page = ministry.article(first(sim))
    assert page is not None
    assert "di bawah 30 °C – “jangan”" in page.content


@pytest.mark.parametrize("variant", ["emptied", "redesign"])
def test_a_list_without_articles_is_a_failure(sim, ministry, variant):
    sim.ministry.show(variant)
    with pytest.raises(ProviderError, match="no articles"):
        ministry.headlines()


@pytest.mark.parametrize("variants", [(), ("no_jsonld",), ("no_og",), ("broken_jsonld",), ("no_content",)])
def test_title_and_text_are_found_in_each_variant(sim, ministry, variants):
    sim.ministry.show(*variants)
    page = ministry.article(first(sim))
    assert page is not None
    assert page.title == "Mengenal Diabetes Sejak Dini"
    assert page.content.startswith("<p><strong>Jakarta</strong> – Diabetes perlu dikenali")
    assert "<li>Makan makanan bergizi seimbang</li>" in page.content
    assert "Bagikan" not in page.content
    assert "Hak cipta" not in page.content


@pytest.mark.parametrize(
    "text",
    [
        '<p><img src="/wp-content/uploads/cuci-tangan.png" alt="Enam langkah"></p>',
        '<p>Enam langkah.</p><img src="/wp-content/uploads/cuci-tangan.png">',
        "<p>Layanan 119 buka setiap hari.</p>",
    ],
    ids=["picture", "picture and words", "words"],
)
def test_an_article_block_with_a_picture_or_few_words_is_an_article(sim, ministry, text):
    rewrite(sim, text)
    page = ministry.article(first(sim))
    assert page is not None
    assert page.title == "Mengenal Diabetes Sejak Dini"
    shown = ["Enam langkah" in text, "119" in text, "cuci-tangan.png" in text]
    assert ["Enam langkah" in page.content, "119" in page.content, "cuci-tangan.png" in page.content] == shown


@pytest.mark.parametrize("variants", [("no_article",), ("no_jsonld", "no_og")], ids=["no text", "no title"])
def test_a_page_without_a_text_block_or_a_title_is_not_an_article(sim, ministry, variants):
    sim.ministry.show(*variants)
    with pytest.raises(ProviderError, match="no article"):
        ministry.article(first(sim))


@pytest.mark.parametrize("text", ["", " <p></p> ", "<script>muat()</script>"], ids=["blank", "space", "script"])
def test_an_empty_article_block_is_not_an_article(sim, ministry, text):
    rewrite(sim, text)
    with pytest.raises(ProviderError, match="no article"):
        ministry.article(first(sim))


def test_the_longer_of_two_blocks_with_the_same_class_is_read(sim, ministry):
    rewrite(sim, f'Ringkasan.</div><div class="entry-content"><p>{TEXT}</p>')
    page = ministry.article(first(sim))
    assert page is not None
    assert page.content.startswith("<p>Cuci tangan dengan sabun")


def test_picture_and_time_are_read_from_json_ld_or_else_from_open_graph(sim, ministry):
    for variants in ((), ("no_jsonld",), ("no_og",)):
        sim.ministry.show(*variants)
        page = ministry.article(first(sim))
        assert page is not None
        assert page.image == sim.ministry.url + sim.ministry.articles[0].picture
        assert page.published_at == "2026-02-15T02:30:00Z"


TEXT = "Cuci tangan dengan sabun sebelum makan. " * 4


@pytest.mark.parametrize(
    ("news", "link"),
    [
        ({"headline": "Cuci Tangan\ud83d"}, "/artikel"),  # half of an emoji
        ({"headline": "Cuci\0 Tangan"}, "/artikel"),
        ({"datePublished": "9999-12-31T23:59:59-07:00"}, "/artikel"),
        ({}, "tel:\x01119"),
    ],
)
def test_a_page_with_invalid_parts_is_still_read(news, link):
    news = {"@type": "NewsArticle", "headline": "Cuci Tangan", **news}
    text = (
        f'<script type="application/ld+json">{json.dumps(news)}</script>'
        f'<div class="entry-content"><p>{TEXT}<a href="{link}">119</a></p></div>'
    )
    page = read_article(text, "https://ayosehat.kemkes.go.id/cuci-tangan", lambda url: True)
    assert page is not None
    assert json.dumps(asdict(page), ensure_ascii=False).encode()  # the cache and the response encode a page in this way
    assert (page.title, page.published_at) == ("Cuci Tangan", None)
    assert "Cuci tangan dengan sabun" in page.content


@pytest.mark.parametrize("break_", ["\v", "&#11;", "\x01", "\ufffe"])
@pytest.mark.parametrize("clutter", ["<script>1</script>", "<form>Cari</form>", '<img src="javascript:1">'])
def test_text_with_a_control_character_is_kept_when_clutter_is_removed(clutter, break_):
    head = '<meta property="og:title" content="Cuci Tangan">'
    text = f'{head}<div class="entry-content"><p>{clutter}Pakai{break_}sabun. {TEXT}</p></div>'
    page = read_article(text, "https://ayosehat.kemkes.go.id/cuci-tangan", lambda url: True)
    assert page is not None
    assert "Pakai sabun. Cuci tangan" in page.content
    assert "Cari" not in page.content


def test_links_in_an_article_are_absolute_and_have_no_utm_parameters(sim, ministry):
    page = ministry.article(first(sim))
    assert page is not None
    assert f'<a href="{sim.ministry.url}/artikel" rel="noopener noreferrer nofollow">' in page.content
    assert f'<img src="{sim.ministry.url}/wp-content/uploads/2026/02/isi.jpg" alt="Gambar">' in page.content
    assert "utm_" not in page.content


def test_harmful_html_is_removed_from_an_article(sim, ministry):
    sim.ministry.show("hostile")
    page = ministry.article(first(sim))
    assert page is not None
    harmful = r"<script|<iframe|<svg|<math|<style|<form|<input|<object|<embed|<base|<meta|<link|<template|<!--"
    assert not re.search(harmful, page.content, re.IGNORECASE)
    assert not re.search(r"\son\w+\s*=|javascript:|vbscript:|data:|style=|10\.0\.0\.1", page.content, re.IGNORECASE)
    assert "Diabetes perlu dikenali" in page.content


def test_an_article_that_does_not_exist_is_none(sim, ministry):
    assert ministry.article(f"{sim.ministry.url}/tidak-ada-lagi") is None


def test_a_captive_portal_is_no_article(sim, ministry):
    sim.fault("ministry", "wrong_type")
    with pytest.raises(ProviderError, match="no article"):
        ministry.article(first(sim))


def test_an_article_keeps_the_requested_url_after_a_redirect(sim, ministry):
    asked = f"{sim.ministry.url}/_redirect?to=/ministry{sim.ministry.articles[0].path}"
    page = ministry.article(asked + "&utm_source=x#isi")
    assert page is not None
    assert page.title == sim.ministry.articles[0].title
    assert page.url.startswith(f"{sim.ministry.url}/_redirect?to=")
    assert "utm" not in page.url


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.1/", "http://169.254.169.254/latest/", "https://evil.example/", "//evil.example/x", "http://[::1]/",
     "file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL"],
)  # fmt: skip
def test_a_redirect_to_a_forbidden_url_is_not_followed(sim, ministry, target):
    with pytest.raises(UrlNotAllowed):
        ministry.article(f"{sim.ministry.url}/_redirect?to={target}")
    sim.fault("ministry", "redirect", location=target)
    with pytest.raises(ProviderError, match="redirect"):
        ministry.headlines()


def test_a_redirect_loop_ends_with_an_error(sim, ministry):
    sim.fault("ministry", "redirect", times=None, location=f"{sim.ministry.url}/artikel")
    with pytest.raises(ProviderError, match="redirect"):
        ministry.headlines()
    assert len(sim.ministry.calls) == 6


@pytest.mark.parametrize("kind", ["down", "drop", "garbage", "not_http", "oversize", "status"])
def test_every_fault_raises_a_provider_error_after_few_attempts(sim, ministry, kind):
    sim.fault("ministry", kind, times=None)
    assert BUDGET_S < 8
    with pytest.raises(ProviderError):
        ministry.headlines()
    assert 1 <= len(sim.ministry.calls) <= 3


def test_a_403_is_a_permanent_error_and_a_503_is_retried(sim, ministry):
    sim.fault("ministry", "status", status=403)
    with pytest.raises(ProviderError) as caught:
        ministry.headlines()
    assert caught.value.permanent
    sim.fault("ministry", "status", status=503)
    assert ministry.headlines()  # the client has retried the call


def decoded(body, content_type="text/html"):
    return text_of(ProviderResponse("ministry", "http://x/", 200, {"Content-Type": content_type}, body))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("é".encode(), "text/html"),
        ("é".encode(), "text/html; charset=latin-1"),
        ("é".encode("latin-1"), "text/html; charset=nonsense"),
        ("é".encode("utf-16"), "text/html; charset=utf-8"),
        ("é".encode("utf-16-le"), "text/html; charset=utf-16le"),
        ("\ufeffé".encode(), "text/html"),
    ],
)
def test_text_is_decoded_despite_a_missing_or_wrong_charset(body, content_type):
    assert decoded(body, content_type) == "é"


def test_binary_data_is_decoded_without_an_error():
    assert decoded(bytes(range(256)), "text/html; charset=hex")


QUOTED = "&#8220;Cerita&#8221; &amp; Anda"
SHOWN = "“Cerita” & Anda"


@pytest.mark.parametrize("title", [QUOTED, SHOWN])
@pytest.mark.parametrize("source", ["json_ld", "og"])
def test_entities_left_in_a_headline_are_unescaped(source, title):
    double = title.replace("&", "&amp;")
    head = {
        "json_ld": f'<script type="application/ld+json">{json.dumps({"@type": "Article", "headline": title})}</script>',
        "og": f'<meta property="og:title" content="{double}">',
    }
    text = f'{head[source]}<div class="entry-content"><p>{TEXT}</p></div>'
    page = read_article(text, "https://ayosehat.kemkes.go.id/cerita", lambda url: True)
    assert page is not None
    assert page.title == SHOWN


def test_entities_left_in_a_list_of_headlines_are_unescaped(sim, ministry):
    sim.ministry.articles[0] = replace(sim.ministry.articles[0], title=QUOTED)
    assert ministry.headlines()[0].title == SHOWN
