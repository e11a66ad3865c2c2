"""Live articles: cached, marked as saved, and fetched only from allowed hosts."""

from datetime import timedelta

from app.core.lib import local_time
from app.providers import cache
from tests.articles.samples import first
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user


def test_repeated_reads_are_served_from_the_cache(client, outside):
    for _ in range(3):
        assert client.get("/articles").status_code == 200
        assert client.get("/articles/detail", query_string={"url": first(outside)}).status_code == 200
    assert len(outside.ministry.calls) == 2


def test_a_saved_article_is_marked_in_list_and_detail(client, siti, outside):
    saved = outside.ministry.address(outside.ministry.articles[2])
    spelled = saved.replace("http://", "HTTP://") + "?utm_source=whatsapp#isi"
    assert siti.post("/articles/save", {"url": spelled, "title": "Jiwa"}).json == {"is_saved": True}
    assert [row["is_saved"] for row in siti.get("/articles").json] == [False, False, True, False, False]
    detail = siti.get("/articles/detail", query_string={"url": spelled}).json
    assert (detail["is_saved"], detail["url"]) == (True, saved)
    for other in (client, client.as_(make_user())):
        assert [row["is_saved"] for row in other.get("/articles").json] == [False] * 5


def test_a_url_of_another_site_is_400_without_a_call_and_a_redirect_to_it_fails(client, outside):
    for elsewhere in ("http://10.0.0.1/", "https://evil.example/x", "artikel"):
        refused = client.get("/articles/detail", query_string={"url": elsewhere})
        assert_error(refused, 400, "url_not_allowed")
    assert not outside.ministry.calls
    for target in ("http://10.0.0.1/", "https://evil.example/x"):
        url = f"{outside.ministry.url}/_redirect?to={target}"
        assert_error(client.get("/articles/detail", query_string={"url": url}), 400, "url_not_allowed")
        outside.fault("ministry", "redirect", location=target)
        assert_error(client.get("/articles"), 502, "provider_failed")


def test_old_copies_are_used_while_the_layout_is_another_and_replaced_by_new_ones(client, outside, monkeypatch):
    assert client.get("/articles").status_code == 200
    assert client.get("/articles/detail", query_string={"url": first(outside)}).status_code == 200
    real, hours = local_time.now, 0
    monkeypatch.setattr(cache, "now", lambda: real() + timedelta(hours=hours))
    for variant in ("emptied", "redesign"):
        hours += 1  # the copies are stale, and the pause after a failure is over
        outside.ministry.calls.clear()
        outside.ministry.show(variant)
        assert len(client.get("/articles").json) == 5
        detail = client.get("/articles/detail", query_string={"url": first(outside)})
        assert detail.json["title"] == "Mengenal Diabetes Sejak Dini"
        assert len(outside.ministry.calls) == 2, variant
    hours += 1
    outside.ministry.show()
    address = outside.ministry.publish("kabar-baru-hari-ini", "Kabar Baru")
    assert client.get("/articles").json[0]["url"] == address
