"""Live videos from the platform: they are cached, marked as saved, and use little of the quota."""

from datetime import timedelta

import pytest

from app.core.lib import local_time
from app.providers import cache
from tests.helpers.client import assert_error
from tests.helpers.factories import make_video
from tests.videos.samples import CHANNEL, ONE, rows

ALL = (ONE, f"/videoplatform/channel/{CHANNEL}", "/videoplatform/search?q=gizi")


@pytest.fixture
def later(monkeypatch):
    """Return a function that moves the cache's clock ahead by hours."""
    real = local_time.now

    def move(hours):
        monkeypatch.setattr(cache, "now", lambda: real() + timedelta(hours=hours))

    return move


def test_a_saved_video_is_marked_in_lists(client, siti, outside):
    siti.post("/videoplatform/save", {"video_id": "kanal000010", "title": "Gizi"})
    for path in ALL[1:]:
        saved = [row["video_id"] for row in rows(siti, path) if row["is_saved"]]
        assert saved == ["kanal000010"]
        assert not any(row["is_saved"] for row in rows(client, path))


def test_results_of_expensive_calls_are_cached_longer(client, outside, later):
    for _ in range(3):
        for path in ALL:
            rows(client, path)
    rows(client, "/videoplatform/search?q=%20GIZI%20%20")
    assert outside.videos.units == 1 + 2 + 101
    later(0.3)  # the cached channel is stale after 15 minutes
    for path in ALL:
        rows(client, path)
    assert outside.videos.units == 106
    later(6.1)  # the cached search is stale after 6 hours
    for path in ALL:
        rows(client, path)
    assert (outside.videos.count("search"), outside.videos.count("playlistItems")) == (2, 3)


def test_old_copies_are_used_when_the_quota_is_used_up(client, outside, later):
    for path in ALL:
        rows(client, path)
    outside.videos.exhaust()
    later(40)
    for path in ALL:
        assert rows(client, path)
    assert_error(client.get("/videoplatform/videos/sdVideo0001/detail"), 502, "provider_failed")


def test_without_a_key_live_routes_are_502_and_stored_ones_work(client):
    for path in ALL:
        assert_error(client.get(path), 502, "provider_not_configured")
    stored = make_video()
    assert client.get(f"/videoplatform/videos/{stored.id}").status_code == 200
    assert len(rows(client, "/videoplatform/videos")) == 1


def test_invalid_values_from_the_platform_are_shortened_or_null(client, outside):
    hostile = {"title": "<script>alert(1)</script>" + "x" * 500, "channelTitle": 7, "publishedAt": "kemarin"}
    hostile["thumbnails"] = {"maxres": {"url": "javascript:alert(1)"}, "high": {"url": "//x/y.jpg"}}
    outside.videos.add("hostile0001", **hostile)
    (video,) = rows(client, "/videoplatform/videos/hostile0001/detail")
    assert len(video["title"]) == 300
    assert (video["channel_title"], video["published_at"], video["thumbnail"]) == (None, None, None)
