"""Routes of videos, in the order of `routes.py`."""

from tests.helpers.client import assert_error
from tests.helpers.factories import make_video
from tests.videos.samples import CHANNEL, MAXRES, ONE, rows


class TestGetLiveVideo:
    """GET /videoplatform/videos/<video_id>/detail"""

    def test_a_live_video_has_the_documented_fields(self, client, outside):
        (video,) = rows(client, ONE)
        assert video == {
            "id": None, "video_id": "hdMaxres001", "title": "Mengenal Diabetes Melitus", "channel_id": CHANNEL,
            "channel_title": "Kanal Kesehatan", "thumbnail": MAXRES, "duration": "PT4M13S",
            "published_at": "2026-01-01T00:00:00Z", "is_saved": False,
        }  # fmt: skip

    def test_a_stored_video_is_also_found_by_its_record_id(self, client, outside):
        stored = make_video(video_id="sdVideo0001", title="Judul kita")
        for path in (f"/videoplatform/videos/{stored.id}/detail", "/videoplatform/videos/sdVideo0001/detail"):
            (video,) = rows(client, path)
            found = (video["id"], video["video_id"], video["title"])
            assert found == (stored.id, "sdVideo0001", "Cuci Tangan Pakai Sabun")

    def test_a_video_or_channel_that_the_platform_does_not_know_is_404(self, client, outside):
        for path in (
            "videos/nobodyKnows/detail", "videos/private0001/detail", "videos/a%20b/detail", "videos/999999/detail",
            f"videos/{'9' * 30}/detail", "channel/UCnobody", "channel/nobody",
        ):  # fmt: skip
            assert_error(client.get(f"/videoplatform/{path}"), 404, "not_found")


class TestListChannel:
    """GET /videoplatform/channel/<channel_id>"""

    def test_videos_of_a_channel_are_listed_and_paged(self, client, outside):
        channel = client.get(f"/videoplatform/channel/{CHANNEL}")
        assert (len(channel.json), channel.headers["X-Total-Count"]) == (19, "19")
        assert len(client.get(f"/videoplatform/channel/{CHANNEL}?per_page=5").json) == 5


class TestSearchVideos:
    """GET /videoplatform/search"""

    def test_matching_videos_are_listed(self, client, outside):
        found = client.get("/videoplatform/search?q=jantung")
        assert (found.status_code, [row["title"] for row in found.json]) == (200, ["Senam Jantung Sehat"])
        assert client.get("/videoplatform/search?q=zzz").json == []

    def test_without_a_search_text_is_400(self, client, outside):
        assert_error(client.get("/videoplatform/search?q=%20"), 400, field="q")
        assert outside.videos.units == 0


class TestCreateVideo:
    """POST /videoplatform/video"""

    def test_a_video_can_be_created_from_its_id_only_if_it_exists(self, client, admin, outside):
        video = admin.post("/videoplatform/video", {"video_id": "hdMaxres001"}).ok(201)
        found = (video["title"], video["thumbnail"], video["duration"], video["published_at"])
        assert found == ("Mengenal Diabetes Melitus", MAXRES, "PT4M13S", "2026-01-01T00:00:00Z")
        assert client.get(f"/videoplatform/videos/{video['id']}").json == video
        assert client.get("/videoplatform/videos").json == [video]
        assert_error(admin.post("/videoplatform/video", {"video_id": "nobodyKnows"}), 404)


class TestUpdateVideo:
    """PUT /videoplatform/video/<video_id>"""

    def test_a_new_video_id_replaces_fields_missing_from_the_body(self, admin, outside):
        video = admin.post("/videoplatform/video", {"video_id": "hdMaxres001"}).json
        path = f"/videoplatform/video/{video['id']}"
        edited = admin.put(path, {"title": "Baru"}).json
        assert (edited["title"], edited["thumbnail"]) == ("Baru", MAXRES)
        moved = admin.put(path, {"video_id": "sdVideo0001"}).json
        found = (moved["id"], moved["video_id"], moved["title"])
        assert found == (video["id"], "sdVideo0001", "Cuci Tangan Pakai Sabun")
        assert moved["thumbnail"] == "https://i.ytimg.com/vi/sdVideo0001/hqdefault.jpg"
        make_video(video_id="hdNoMaxres1")
        assert_error(admin.put(path, {"video_id": "hdNoMaxres1"}), 409, "video_exists")
