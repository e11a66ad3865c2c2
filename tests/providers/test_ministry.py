"""Tests of the client of the ministry's website, with a simulator of the website."""

import json
import re
from dataclasses import asdict, replace

import pytest

from app.providers.ministry import Ministry, UrlNotAllowed, text_of
from app.providers.ministry_pages import read_article
from app.providers.responses import ProviderError, ProviderResponse
from config import Config
from tests.providers.calls import ok
from tests.providers.raw_server import raw


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


def test_headlines_and_articles_are_decoded_from_any_charset(sim, ministry, subtests):
    for charset in ("windows-1252", "utf-16", "meta_charset", "wrong_charset"):
        with subtests.test(charset):
            sim.ministry.show(charset)
            assert ministry.headlines()[2].title == "Kesehatan Jiwa Remaja – “Cerita, Yuk!”"
            assert "di bawah 30 °C – “jangan”" in ministry.article(first(sim)).content


def test_a_list_without_articles_is_a_failure(sim, ministry):
    for variant in ("emptied", "redesign"):
        sim.ministry.show(variant)
        with pytest.raises(ProviderError, match="no articles"):
            ministry.headlines()


def test_title_text_picture_and_time_are_found_in_each_variant(sim, ministry, subtests):
    for variant in ("", "no_jsonld", "no_og", "broken_jsonld", "no_content"):
        with subtests.test(variant):
            sim.ministry.show(*filter(None, [variant]))
            page = ministry.article(first(sim))
            assert page.title == "Mengenal Diabetes Sejak Dini"
            assert page.content.startswith("<p><strong>Jakarta</strong> – Diabetes perlu dikenali")
            assert "<li>Makan makanan bergizi seimbang</li>" in page.content
            assert "Bagikan" not in page.content
            assert "Hak cipta" not in page.content
            assert page.image == sim.ministry.url + sim.ministry.articles[0].picture
            assert page.published_at == "2026-02-15T02:30:00Z"


def test_an_article_block_with_a_picture_or_few_words_is_an_article(sim, ministry):
    picture = '<img src="/wp-content/uploads/cuci-tangan.png" alt="Enam langkah">'
    for text in (f"<p>{picture}</p>", f"<p>Enam langkah.</p>{picture}", "<p>Layanan 119 buka setiap hari.</p>"):
        rewrite(sim, text)
        page = ministry.article(first(sim))
        assert page.title == "Mengenal Diabetes Sejak Dini"
        for part in ("Enam langkah", "119", "cuci-tangan.png"):
            assert (part in page.content) is (part in text), text


def test_a_page_without_a_text_or_title_or_a_captive_portal_is_not_an_article(sim, ministry):
    assert ministry.article(f"{sim.ministry.url}/tidak-ada-lagi") is None
    for variants in (("no_article",), ("no_jsonld", "no_og")):
        sim.ministry.show(*variants)
        with pytest.raises(ProviderError, match="no article"):
            ministry.article(first(sim))
    sim.ministry.show()
    for text in ("", " <p></p> ", "<script>muat()</script>", None):
        if text is None:
            sim.fault("ministry", "wrong_type")
        else:
            rewrite(sim, text)
        with pytest.raises(ProviderError, match="no article"):
            ministry.article(first(sim))


def test_a_response_of_another_type_is_not_a_page():
    page = f'<meta property="og:title" content="Cuci Tangan"><div class="entry-content"><p>{TEXT}</p></div>'
    with raw(ok(page.encode())) as server:  # the type is JSON
        ministry = Ministry.from_config(Config.from_env({"ENVIRONMENT": "testing", "ARTICLE_SOURCE_URL": server.url}))
        with pytest.raises(ProviderError, match="not a page"):
            ministry.article(f"{server.url}/cuci-tangan")


def test_the_longer_of_two_blocks_with_the_same_class_is_read(sim, ministry):
    rewrite(sim, f'Ringkasan.</div><div class="entry-content"><p>{TEXT}</p>')
    page = ministry.article(first(sim))
    assert page.content.startswith("<p>Cuci tangan dengan sabun")


TEXT = "Cuci tangan dengan sabun sebelum makan. " * 4


ADDRESS = "https://ayosehat.kemkes.go.id/cuci-tangan"


def read(head, content):
    """Return the article of a page with this head and this content."""
    return read_article(f'{head}<div class="entry-content"><p>{content}</p></div>', ADDRESS, lambda url: True)


def json_ld(news):
    return f'<script type="application/ld+json">{json.dumps(news)}</script>'


def test_a_page_with_invalid_parts_is_still_read(subtests):
    half_of_an_emoji = {"headline": "Cuci Tangan\ud83d"}
    late = {"datePublished": "9999-12-31T23:59:59-07:00"}
    for change in (half_of_an_emoji, {"headline": "Cuci\0 Tangan"}, late, {}):
        with subtests.test(str(change)):
            head = json_ld({"@type": "NewsArticle", "headline": "Cuci Tangan", **change})
            page = read(head, f'{TEXT}<a href="tel:\x01119">119</a>')
            # The cache and the response encode a page in this way.
            assert json.dumps(asdict(page), ensure_ascii=False).encode()
            assert (page.title, page.published_at) == ("Cuci Tangan", None)
            assert "Cuci tangan dengan sabun" in page.content


def test_text_with_a_control_character_is_kept_when_clutter_is_removed():
    head = '<meta property="og:title" content="Cuci Tangan">'
    for clutter in ("<script>1</script>", "<form>Cari</form>", '<img src="javascript:1">'):
        for break_ in ("\v", "&#11;", "\x01", "\ufffe"):
            page = read(head, f"{clutter}Pakai{break_}sabun. {TEXT}")
            assert "Pakai sabun. Cuci tangan" in page.content, (clutter, break_)
            assert "Cari" not in page.content


def test_links_in_an_article_are_absolute_and_have_no_utm_parameters(sim, ministry):
    page = ministry.article(first(sim))
    assert f'<a href="{sim.ministry.url}/artikel" rel="noopener noreferrer nofollow">' in page.content
    assert f'<img src="{sim.ministry.url}/wp-content/uploads/2026/02/isi.jpg" alt="Gambar">' in page.content
    assert "utm_" not in page.content


def test_harmful_html_is_removed_from_an_article(sim, ministry):
    sim.ministry.show("hostile")
    page = ministry.article(first(sim))
    harmful = r"<script|<iframe|<svg|<math|<style|<form|<input|<object|<embed|<base|<meta|<link|<template|<!--"
    assert not re.search(harmful, page.content, re.IGNORECASE)
    assert not re.search(r"\son\w+\s*=|javascript:|vbscript:|data:|style=|10\.0\.0\.1", page.content, re.IGNORECASE)
    assert "Diabetes perlu dikenali" in page.content


def test_an_article_keeps_the_requested_url_after_a_redirect(sim, ministry):
    asked = f"{sim.ministry.url}/_redirect?to=/ministry{sim.ministry.articles[0].path}"
    page = ministry.article(asked + "&utm_source=x#isi")
    assert page.title == sim.ministry.articles[0].title
    assert page.url.startswith(f"{sim.ministry.url}/_redirect?to=")
    assert "utm" not in page.url


def test_a_redirect_to_a_forbidden_url_is_not_followed(sim, ministry):
    for target in ("http://10.0.0.1/", "//evil.example/x", "file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL"):
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


def decoded(body, content_type="text/html"):
    return text_of(ProviderResponse("ministry", "http://x/", 200, {"Content-Type": content_type}, body))


def test_text_is_decoded_despite_a_missing_or_wrong_charset():
    assert decoded(bytes(range(256)), "text/html; charset=hex")
    for body, declared in (
        ("é".encode(), ""),
        ("é".encode(), "; charset=latin-1"),
        ("é".encode("latin-1"), "; charset=nonsense"),
        ("é".encode("utf-16"), "; charset=utf-8"),
        ("é".encode("utf-16-le"), "; charset=utf-16le"),
        ("\ufeffé".encode(), ""),
    ):
        assert decoded(body, f"text/html{declared}") == "é", (body, declared)


QUOTED = "&#8220;Cerita&#8221; &amp; Anda"
SHOWN = "“Cerita” & Anda"


def test_entities_left_in_a_headline_are_unescaped(sim, ministry):
    sim.ministry.articles[0] = replace(sim.ministry.articles[0], title=QUOTED)
    assert ministry.headlines()[0].title == SHOWN
    for title in (QUOTED, SHOWN):
        og = f'<meta property="og:title" content="{title.replace("&", "&amp;")}">'
        for head in (json_ld({"@type": "Article", "headline": title}), og):
            assert read(head, TEXT).title == SHOWN, head
