"""Stored videos: reads, saves, and changes by administrators."""

from datetime import UTC, datetime

from tests.helpers.client import assert_error
from tests.helpers.factories import make_video


def test_sent_fields_override_the_platform_except_the_thumbnail(admin, outside):
    sent = {"video_id": "hdNoMaxres1", "title": "Judul kita", "thumbnail": "https://evil.example/x.jpg"}
    video = admin.post("/videoplatform/video", sent).json
    assert video["title"] == "Judul kita"
    assert video["channel_title"] == "Kanal Kesehatan"
    assert video["thumbnail"] == "https://i.ytimg.com/vi/hdNoMaxres1/hqdefault.jpg"


def test_without_a_platform_a_video_can_be_created_with_a_title(admin):
    assert_error(admin.post("/videoplatform/video", {"video_id": "abc"}), 502, "provider_not_configured")
    video = admin.post("/videoplatform/video", {"video_id": "abc", "title": "Senam"}).json
    assert (video["title"], video["thumbnail"], video["duration"]) == ("Senam", None, None)


def test_without_a_platform_a_new_video_id_clears_the_old_details(admin):
    stored = make_video(published_at=datetime(2026, 1, 1, tzinfo=UTC), duration="PT4M13S", channel_id="UCsatu")
    video = admin.put(f"/videoplatform/video/{stored.id}", {"video_id": "lain", "title": "Lain"}).json
    assert (video["video_id"], video["title"]) == ("lain", "Lain")
    assert (video["published_at"], video["duration"], video["channel_id"], video["thumbnail"]) == (None,) * 4
