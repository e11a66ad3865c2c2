"""Tests of the simulated website of the health ministry, in normal and failing states."""

from __future__ import annotations

import json
import re

import pytest
import requests
from lxml import html

from dev.simulators import Server
from dev.simulators.ministry import VARIANTS
from dev.stack.waiting import PATIENCE_S


def page(sim: Server, address: str | None = None) -> requests.Response:
    reply = requests.get(address or sim.env["ARTICLE_SOURCE_URL"], timeout=PATIENCE_S)
    assert reply.status_code == 200
    return reply


def first(sim: Server) -> str:
    return sim.ministry.address(sim.ministry.articles[0])


def test_the_list_has_both_kinds_of_article_links_three_times_each(sim: Server) -> None:
    tree = html.fromstring(page(sim).content)
    links = tree.xpath("//article//a/@href")
    assert len(links) == 3 * len(sim.ministry.articles)
    assert any("utm_source" in link for link in links)
    assert any(re.match(r"\./baca/[\w-]+/\d{8}/\d+/[\w-]+/", link) for link in links)
    assert any(re.fullmatch(r"\./[\w-]+", link) for link in links)
    assert tree.xpath("//footer//a")


def test_an_article_has_json_ld_open_graph_and_html_content(sim: Server) -> None:
    tree = html.fromstring(page(sim, first(sim)).content)
    title = sim.ministry.articles[0].title
    (block,) = tree.xpath("//script[@type='application/ld+json']/text()")
    news = json.loads(block)["@graph"][1]
    assert (news["@type"], news["headline"]) == ("NewsArticle", title)
    assert tree.xpath("//meta[@property='og:title']/@content") == [title]
    assert tree.xpath("//meta[@property='article:published_time']/@content") == ["2026-02-15T09:30:00+07:00"]
    assert "Diabetes perlu dikenali" in tree.xpath("string(//article//div[@class='entry-content'])")


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_variant_serves_a_list_and_an_article(sim: Server, variant: str) -> None:
    def look() -> list[tuple[bytes, str]]:
        replies = page(sim), page(sim, first(sim))
        return [(reply.content, reply.headers["Content-Type"]) for reply in replies]

    usual = look()
    sim.ministry.show(variant)
    assert look() != usual
    sim.ministry.show()
    assert look() == usual


def test_an_unknown_variant_is_refused(sim: Server) -> None:
    with pytest.raises(ValueError, match="sideways"):
        sim.ministry.show("sideways")


@pytest.mark.parametrize(
    ("variant", "charset", "said"),
    [
        ("windows-1252", "cp1252", "text/html; charset=windows-1252"),
        ("utf-16", "utf-16", "text/html"),
        ("meta_charset", "cp1252", "text/html"),
        ("wrong_charset", "utf-8", "text/html; charset=ascii"),
    ],
)
def test_each_charset_variant_has_its_encoding_and_content_type(
    sim: Server, variant: str, charset: str, said: str
) -> None:
    sim.ministry.show(variant)
    reply = page(sim)
    assert reply.headers["Content-Type"] == said
    assert "Kesehatan Jiwa Remaja – “Cerita, Yuk!”" in reply.content.decode(charset)


def test_a_published_article_is_first_and_an_unknown_one_is_404(sim: Server) -> None:
    address = sim.ministry.publish("baru-saja", "Baru Saja")
    assert "Baru Saja" in html.fromstring(page(sim).content).xpath("string(//article[1]//h2)")
    assert page(sim, address).status_code == 200
    assert requests.get(f"{sim.ministry.url}/tidak-ada", timeout=PATIENCE_S).status_code == 404


def test_the_simulator_redirects_to_any_requested_url(sim: Server) -> None:
    target = "http://169.254.169.254/latest/"
    address = f"{sim.ministry.url}/_redirect"
    reply = requests.get(address, params={"to": target}, timeout=PATIENCE_S, allow_redirects=False)
    assert (reply.status_code, reply.headers["Location"]) == (302, target)
