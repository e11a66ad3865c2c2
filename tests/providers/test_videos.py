"""Tests of the client of the video platform, with a simulator of the platform."""

import pytest

from app.providers.responses import ProviderError
from app.providers.videos import VideoPlatform, read_video, thumbnail_of
from config import Config

CHANNEL = "UCkemenkesSimulasi0000001"


@pytest.fixture
def platform(sim):
    return VideoPlatform.from_config(Config.from_env({"ENVIRONMENT": "testing", **sim.env}))


def test_without_a_key_there_is_no_platform():
    assert VideoPlatform.from_config(Config.from_env({"ENVIRONMENT": "testing"})) is None


def test_a_video_is_returned_with_its_fields(platform):
    video = platform.one("hdMaxres001")
    assert (video.video_id, video.title) == ("hdMaxres001", "Mengenal Diabetes Melitus")
    assert (video.channel_id, video.channel_title) == (CHANNEL, "Kanal Kesehatan")
    assert (video.duration, video.published_at) == ("PT4M13S", "2026-01-01T00:00:00Z")


def test_the_maxres_thumbnail_is_used_only_for_hd_videos_that_have_it(platform):
    pictures = {"hdMaxres001": "maxresdefault", "hdNoMaxres1": "hqdefault", "sdVideo0001": "hqdefault"}
    found = {video_id: platform.one(video_id).thumbnail for video_id in pictures}
    assert found == {video_id: f"https://i.ytimg.com/vi/{video_id}/{name}.jpg" for video_id, name in pictures.items()}


def test_an_unknown_private_or_invalid_video_id_returns_none(sim, platform):
    for video_id in ("nobodyKnows", "private0001"):
        assert platform.one(video_id) is None, video_id
    sim.videos.calls.clear()
    for video_id in ("a,b", "", "x" * 65, "hdMaxres001&key=x"):
        assert platform.one(video_id) is None, video_id
    assert not sim.videos.calls


def test_the_latest_videos_of_a_channel_need_two_calls(sim, platform):
    videos = platform.channel(CHANNEL)
    assert len(videos) == 19  # one of the 20 videos is private
    dates = [video.published_at or "" for video in videos]
    assert dates == sorted(dates, reverse=True)
    assert {video.thumbnail.rpartition("/")[2] for video in videos if video.thumbnail} == {
        "maxresdefault.jpg",
        "hqdefault.jpg",
    }
    assert [call.path for call in sim.videos.calls] == ["/playlistItems", "/videos"]
    assert sim.videos.units == 2


def test_an_unknown_channel_is_none(platform):
    for channel_id in ("UCnobody", "nobody", "UC", "UC../x"):
        assert platform.channel(channel_id) is None, channel_id


def test_search_results_keep_their_order_and_have_unescaped_titles(sim, platform):
    sim.videos.add("escaped0001", title="Gula & Garam <penting>")
    assert [video.title for video in platform.search("garam")] == ["Gula & Garam <penting>"]
    assert [video.title for video in platform.search("gizi")][:2] == ["Edukasi Gizi #0", "Edukasi Gizi #1"]
    assert platform.search("tidak ada yang begini") == []
    query = sim.videos.calls[0].query
    assert (query["type"], query["regionCode"], query["maxResults"]) == ("video", "ID", "20")


def test_a_used_up_quota_is_not_retried(sim, platform):
    sim.fault("videos", "quotaExceeded", times=None)
    with pytest.raises(ProviderError) as caught:
        platform.one("hdMaxres001")
    assert caught.value.permanent
    assert len(sim.videos.calls) == 1


def said(**snippet):
    whole = {"title": "Judul", "channelId": CHANNEL, "channelTitle": "Kanal", "publishedAt": "2026-01-01T00:00:00Z"}
    details = {"definition": "hd", "duration": "PT1M"}
    return {"id": "hdMaxres001", "snippet": whole | snippet, "contentDetails": details}


#: Parts of a video from the platform, and the values that we read.
CLEANED = [
    ({"title": "a\x00b\x1b[31m\n c"}, "title", "a b [31m c"),
    ({"title": "x" * 5000}, "title", "x" * 300),
    ({"title": "<script>alert(1)</script>"}, "title", "<script>alert(1)</script>"),  # the front end escapes it
    ({"channelTitle": 5}, "channel_title", None),
    ({"channelId": "javascript:alert(1)"}, "channel_id", None),
    ({"publishedAt": "yesterday"}, "published_at", None),
    ({"publishedAt": "0500-01-01T00:00:00+07:00"}, "published_at", None),
    ({"publishedAt": "9999-12-31T23:59:59-05:00"}, "published_at", None),
    ({"thumbnails": {"maxres": {"url": "javascript:alert(1)"}}}, "thumbnail", None),
    ({"thumbnails": {"maxres": {"url": "http://x/a.jpg"}, "high": {"url": "https://x/b"}}}, "thumbnail", "https://x/b"),
    ({"thumbnails": ["https://x/a.jpg"]}, "thumbnail", None),
]


def test_invalid_values_of_a_video_are_cleaned_or_left_out(subtests):
    for snippet, field, value in CLEANED:
        with subtests.test(str(snippet)[:100]):
            assert getattr(read_video(said(**snippet)), field) == value


def test_an_item_without_id_or_title_is_no_video():
    nested, no_id = {"id": {"videoId": "x"}}, {"id": "../x", "snippet": {"title": "a"}}
    for item in (None, [], "x", {}, nested, no_id, said(title=None), said(title=" ")):
        assert read_video(item) is None, item


def test_an_sd_video_does_not_use_the_maxres_thumbnail():
    both = {"maxres": {"url": "https://x/maxres.jpg"}, "high": {"url": "https://x/high.jpg"}}
    item = said(thumbnails=both)
    assert thumbnail_of(item) == "https://x/maxres.jpg"
    item["contentDetails"]["definition"] = "sd"
    assert thumbnail_of(item) == "https://x/high.jpg"


def test_an_invalid_item_is_left_out_of_the_channel(sim, platform):
    sim.videos.add("kanal000099", title=None, thumbnails=7)
    videos = platform.channel(CHANNEL)
    assert videos
    assert "kanal000099" not in [video.video_id for video in videos]
