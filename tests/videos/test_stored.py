"""Stored videos: reads, saves, and changes by administrators."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.notifications.models import Broadcast
from app.videos import service
from app.videos.models import SavedVideo
from dev.simulators import Server
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user, make_video
from tests.notifications.deliveries import announced
from tests.videos.samples import MAXRES, SAVE


def test_sent_fields_override_the_platform_except_the_thumbnail(admin: Client, outside: Server) -> None:
    sent = {"video_id": "hdNoMaxres1", "title": "Judul kita", "thumbnail": "https://evil.example/x.jpg"}
    video = admin.post("/videoplatform/video", sent).json or {}
    assert video["title"] == "Judul kita"
    assert video["channel_title"] == "Kanal Kesehatan"
    assert video["thumbnail"] == "https://i.ytimg.com/vi/hdNoMaxres1/hqdefault.jpg"


def test_without_a_platform_a_video_can_be_created_with_a_title(admin: Client) -> None:
    assert_error(admin.post("/videoplatform/video", {"video_id": "abc"}), 502, "provider_not_configured")
    video = admin.post("/videoplatform/video", {"video_id": "abc", "title": "Senam"}).json or {}
    assert (video["title"], video["thumbnail"], video["duration"]) == ("Senam", None, None)


def test_without_a_platform_a_new_video_id_clears_the_old_details(admin: Client) -> None:
    stored = make_video(published_at=datetime(2026, 1, 1, tzinfo=UTC), duration="PT4M13S", channel_id="UCsatu")
    video = admin.put(f"/videoplatform/video/{stored.id}", {"video_id": "lain", "title": "Lain"}).json or {}
    assert (video["video_id"], video["title"]) == ("lain", "Lain")
    assert (video["published_at"], video["duration"], video["channel_id"], video["thumbnail"]) == (None,) * 4


def test_a_new_video_is_announced_unless_it_is_deleted(admin: Client) -> None:
    video = admin.post("/videoplatform/video", SAVE).json or {}
    row = db.session.scalars(sa.select(Broadcast)).one()
    assert (row.kind, row.about_id, announced(row)) == ("video", video["id"], "Video baru: Senam")
    admin.delete(f"/videoplatform/video/{video['id']}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []


@pytest.mark.parametrize(
    ("change", "title"),
    [({"title": "Senam Pagi"}, "Senam Pagi"), ({"video_id": "hdMaxres001"}, "Mengenal Diabetes Melitus")],
)
def test_an_announcement_has_the_current_title_of_the_video(
    admin: Client, outside: Server, change: dict[str, str], title: str
) -> None:
    video = admin.post("/videoplatform/video", {"video_id": "hdNoMaxres1", "title": "Senam"}).json or {}
    for sent in (change, {"channel_title": "Kanal"}):
        assert admin.put(f"/videoplatform/video/{video['id']}", sent).status_code == 200
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == f"Video baru: {title}"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Senam klaim.help", "Video baru: Senam klaim. help"),
        ("Senam 0812 3456 7890", "Video baru: Senam"),
        ("Senam nomor 123456789", "Video baru: Senam nomor 123456789"),
        ("m" * 90, f"Video baru: {'m' * 79}…"),
        ("evil.рф", "Video baru: evil. рф"),
    ],
)
def test_announcements_have_broken_links_and_no_phone_numbers(admin: Client, title: str, text: str) -> None:
    assert admin.post("/videoplatform/video", {**SAVE, "title": title}).status_code == 201
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text


@pytest.mark.parametrize(
    ("sent", "saved"),
    [
        ("https://i.ytimg.com/vi/abc/hqdefault.jpg", "https://i.ytimg.com/vi/abc/hqdefault.jpg"),
        ("https://evil.example/x.jpg", None),
        ("https://i.ytimg.com.evil.example/x.jpg", None),
        ("https://evilytimg.com/x.jpg", None),
        ("https://i.ytimg.com@evil.example/x.jpg", None),
        ("http://i.ytimg.com/vi/abc/hqdefault.jpg", None),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_only_thumbnails_on_the_hosts_of_the_platform_are_saved(
    siti: Client, sent: str | None, saved: str | None
) -> None:
    siti.post("/videoplatform/save", {**SAVE, "thumbnail_url": sent})
    assert [row["thumbnail"] for row in siti.get("/videoplatform/saved").json or []] == [saved]


def test_a_thumbnail_from_the_platform_overrides_one_from_the_client(
    siti: Client, client: Client, outside: Server
) -> None:
    client.get("/videoplatform/videos/hdMaxres001/detail")
    sent = {**SAVE, "video_id": "hdMaxres001", "thumbnail_url": "https://i.ytimg.com/vi/other/hqdefault.jpg"}
    siti.post("/videoplatform/save", sent)
    make_video(video_id="stored00001", thumbnail="https://i.ytimg.com/vi/stored00001/hqdefault.jpg")
    siti.post("/videoplatform/save", {**SAVE, "video_id": "stored00001"})
    rows = siti.get("/videoplatform/saved").json or []
    assert [row["thumbnail"] for row in rows] == ["https://i.ytimg.com/vi/stored00001/hqdefault.jpg", MAXRES]


@pytest.mark.parametrize("path", ["/videoplatform/search?q=senam", "/videoplatform/channel/UCkemenkesSimulasi0000001"])
def test_a_save_keeps_the_thumbnail_shown_in_a_list(siti: Client, outside: Server, path: str) -> None:
    picture = "https://pictures.example/senam.jpg"  # thumbnails may be on any host
    newest = {"published_at": "2030-01-01T00:00:00Z", "extra": {"thumbnails": {"high": {"url": picture}}}}
    outside.videos.add("senam000001", "Senam", **newest)
    shown = next(video for video in siti.get(path).json if video["video_id"] == "senam000001")
    assert shown["thumbnail"] == picture
    siti.post("/videoplatform/save", {**SAVE, "video_id": "senam000001", "thumbnail_url": picture})
    assert [row["thumbnail"] for row in siti.get("/videoplatform/saved").json] == [picture]


def test_saving_again_does_not_replace_a_thumbnail_from_the_platform(app: Flask, siti: Client, outside: Server) -> None:
    sent = {**SAVE, "video_id": "hdMaxres001", "thumbnail_url": "https://i.ytimg.com/vi/other/hqdefault.jpg"}
    siti.get("/videoplatform/videos/hdMaxres001/detail")
    siti.post("/videoplatform/save", sent)
    app.extensions["redis"].flushdb()
    siti.post("/videoplatform/save", sent)
    siti.post("/videoplatform/save", sent)
    assert [row["thumbnail"] for row in siti.get("/videoplatform/saved").json] == [MAXRES]


def test_a_new_record_of_an_already_saved_video_is_marked_as_saved(admin: Client) -> None:
    admin.post("/videoplatform/save", SAVE)
    created = admin.post("/videoplatform/video", SAVE).json or {}
    assert created["is_saved"] is True
    assert admin.get(f"/videoplatform/videos/{created['id']}").json == created


def test_saving_videos_is_rate_limited_per_person(client: Client, siti: Client, limited: None) -> None:
    for number in range(120):
        assert siti.post("/videoplatform/save", {**SAVE, "video_id": f"abc{number}"}).status_code == 200
    assert_error(siti.post("/videoplatform/save", SAVE), 429, "too_many_requests")
    assert client.as_(make_user()).post("/videoplatform/save", SAVE).status_code == 200


def test_concurrent_toggles_of_a_save_leave_the_correct_state(committed: Flask) -> None:
    with unit_of_work():
        user_id = make_user().id
    data = {**SAVE, "thumbnail_url": None}

    def tap(_: int) -> bool:
        with committed.app_context(), unit_of_work():
            return service.toggle_save(user_id, data)

    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(tap, range(101)))
    assert (states.count(True), states.count(False)) == (51, 50)
    assert db.session.scalars(sa.select(SavedVideo.saved)).all() == [True]
