"""Saved articles and videos: both behave alike, in one table."""

import pytest

from tests.articles.samples import ONE, TWO
from tests.helpers.client import assert_error
from tests.helpers.factories import make_article, make_user, make_video
from tests.routes.requests import undone
from tests.videos.samples import SAVE

#: For each kind: the path, a record to save, and another one.
KINDS = {"article": ("/articles", ONE, TWO), "video": ("/videoplatform", SAVE, {"video_id": "def", "title": "Lain"})}
each_kind = pytest.mark.parametrize(("path", "one", "two"), KINDS.values(), ids=KINDS)


@each_kind
def test_each_request_flips_a_save_and_people_see_their_own_latest_first(client, siti, path, one, two):
    sent = (one, two, one, one)
    assert [siti.post(f"{path}/save", each).json["is_saved"] for each in sent] == [True, True, False, True]
    rows = siti.get(f"{path}/saved").json
    found = [(row["title"], row["id"], row["is_saved"]) for row in rows]
    assert found == [(each["title"], None, True) for each in (one, two)]
    siti.post(f"{path}/save", one)
    assert [row["title"] for row in siti.get(f"{path}/saved").json] == [two["title"]]
    assert client.as_(make_user()).get(f"{path}/saved").json == []
    for other, _, _ in KINDS.values():
        if other != path:
            assert siti.get(f"{other}/saved").json == []


def test_saves_are_limited_for_each_person_and_not_for_an_address(client, siti, limited):
    assert {siti.post("/articles/save", ONE).status_code for _ in range(120)} == {200}
    assert_error(siti.post("/articles/save", ONE), 429, "too_many_requests")
    assert client.as_(make_user()).post("/articles/save", ONE).status_code == 200


def test_a_stored_record_is_marked_for_the_person_who_saved_it(siti, client):
    article = make_article(image="a" * 32 + ".webp")
    video = make_video(thumbnail="https://i.ytimg.com/vi/stored/hqdefault.jpg")
    siti.post("/articles/save", {"url": f"{article.url}?utm_medium=x", "title": "Judul"})
    siti.post("/videoplatform/save", {"video_id": video.video_id, "title": "Judul"})
    (row,) = siti.get("/articles/saved").json
    assert (row["id"], row["image"]) == (article.id, f"/media/{article.image}")
    (row,) = siti.get("/videoplatform/saved").json
    assert (row["id"], row["thumbnail"]) == (video.id, video.thumbnail)
    assert set(row) == {"id", "video_id", "title", "channel_title", "thumbnail", "is_saved", "saved_at"}
    records = [
        "/articles/all", "/articles/search?title=artikel", f"/articles/{article.id}",
        f"/articles/url?url={article.url}", "/videoplatform/videos", f"/videoplatform/videos/{video.id}",
    ]  # fmt: skip
    for who, is_saved in ((siti, True), (client, False), (client.as_(make_user()), False)):
        bodies = [who.get(path).json for path in records]
        assert [(body[0] if isinstance(body, list) else body)["is_saved"] for body in bodies] == [is_saved] * 6


def test_a_new_record_of_a_saved_address_is_marked_as_saved(admin):
    for path, new, (_, saved, _) in zip(
        ("/articles", "/videoplatform/video"), (ONE, SAVE), KINDS.values(), strict=True
    ):
        admin.post(f"{path.removesuffix('/video')}/save", saved)
        assert admin.post(path, new).json["is_saved"] is True


def test_a_bad_save_is_400(siti):
    for path, change, field in (
        *(("/articles", {"url": url}, "url") for url in ("javascript:alert(1)", "")),
        ("/articles", {"title": " "}, "title"),
        ("/videoplatform", {"title": " "}, "title"),
    ):
        body = ONE if path == "/articles" else SAVE
        assert_error(siti.post(f"{path}/save", {**body, **change}), 400, field=field)


def test_only_thumbnails_on_hosts_of_the_platform_are_saved(siti, subtests):
    kept = ("https://i.ytimg.com/vi/abc/hqdefault.jpg", "https://yt3.ggpht.com/a?s=88")
    left_out = (
        "https://evil.example/x.jpg", "https://i.ytimg.com.evil.example/x.jpg", "https://evilytimg.com/x.jpg",
        "https://i.ytimg.com@evil.example/x.jpg", "https://evil.example\\.ytimg.com/x.jpg",
        "https://i.ytimg.com:8443/x.jpg", "http://i.ytimg.com/vi/abc/hqdefault.jpg",
        "https://i.ytimg.com/" + "x" * 2048, "javascript:alert(1)", "", None,
    )  # fmt: skip
    for sent in (*kept, *left_out):
        with subtests.test(str(sent)[:80]), undone():
            assert siti.post("/videoplatform/save", {**SAVE, "thumbnail_url": sent}).json == {"is_saved": True}
            (row,) = siti.get("/videoplatform/saved").json
            assert row["thumbnail"] == (sent if sent in kept else None)
