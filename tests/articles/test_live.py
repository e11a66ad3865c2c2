"""Live articles: cached, marked as saved, and fetched only from allowed hosts."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from app.core.lib import local_time
from app.providers import cache
from tests.articles.samples import first
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.providers.hostile_addresses import HOSTILE


@pytest.fixture
def an_hour_later(app, monkeypatch):
    """Move the cache's clock one hour ahead. Stored values are then stale, and the pause after a failure is over."""
    real = local_time.now
    monkeypatch.setattr(cache, "now", lambda: real() + timedelta(hours=1))


def test_repeated_reads_are_served_from_the_cache(client, outside):
    for _ in range(3):
        assert client.get("/articles").status_code == 200
        assert client.get("/articles/detail", query_string={"url": first(outside)}).status_code == 200
    assert len(outside.ministry.calls) == 2


def test_a_saved_article_is_marked_in_list_and_detail(client, siti, outside):
    saved = outside.ministry.address(outside.ministry.articles[2])
    spelled = saved.replace("http://", "HTTP://") + "?utm_source=whatsapp#isi"
    assert siti.post("/articles/save", {"url": spelled, "title": "Jiwa"}).json == {"is_saved": True}
    rows = siti.get("/articles").json or []
    assert [row["is_saved"] for row in rows] == [False, False, True, False, False]
    detail = siti.get("/articles/detail", query_string={"url": spelled}).json
    assert detail is not None
    assert (detail["is_saved"], detail["url"]) == (True, saved)
    assert not any(row["is_saved"] for row in client.get("/articles").json or [])
    assert not any(row["is_saved"] for row in client.as_(make_user()).get("/articles").json or [])


def test_a_url_of_another_site_is_400_without_a_call(client, outside, subtests):
    for url in HOSTILE:
        with subtests.test(url):
            assert_error(client.get(f"/articles/detail?url={quote(url)}"), 400)
            assert len(outside.ministry.calls) == 0


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "https://evil.example/x", "http://169.254.169.254/"])
def test_a_redirect_to_elsewhere_is_400(client, outside, target):
    url = f"{outside.ministry.url}/_redirect?to={target}"
    assert_error(client.get("/articles/detail", query_string={"url": url}), 400, "url_not_allowed")
    outside.fault("ministry", "redirect", location=target)
    assert_error(client.get("/articles"), 502, "provider_failed")


@pytest.mark.usefixtures("an_hour_later")
class TestOldCopies:
    """Articles that were cached an hour ago. They are still used while the site fails."""

    @pytest.fixture(autouse=True)
    def visited(self, client, outside, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(cache, "now", local_time.now)
            assert client.get("/articles").status_code == 200
            assert client.get("/articles/detail", query_string={"url": first(outside)}).status_code == 200
        outside.ministry.calls.clear()

    @pytest.mark.parametrize("variant", ["emptied", "redesign"])
    def test_old_copies_are_used_when_the_site_has_another_layout(self, client, outside, variant):
        outside.ministry.show(variant)
        assert len(client.get("/articles").json or []) == 5
        detail = client.get("/articles/detail", query_string={"url": first(outside)})
        assert (detail.json or {})["title"] == "Mengenal Diabetes Sejak Dini"
        assert len(outside.ministry.calls) == 2

    def test_old_copies_are_replaced_by_new_ones(self, client, outside):
        address = outside.ministry.publish("kabar-baru-hari-ini", "Kabar Baru")
        assert (client.get("/articles").json or [])[0]["url"] == address
