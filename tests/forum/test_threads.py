"""Threads: writing, reading, changing and deleting them."""

from __future__ import annotations

from io import BytesIO

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumCategory, ForumReply, ForumThread, ReplyMark, ThreadMark
from tests.core.media.samples import HOSTILE, plain
from tests.forum.posts import category_id, read_thread, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin


def test_categories_are_seeded_with_the_preferences_that_they_concern(client: Client) -> None:
    tags = {row["name"]: row["preference_tag"] for row in client.get("/forum/categories").json}
    assert tags == {
        "Umum": None, "Medis": "medical", "Kesehatan Mental": "mental_health", "Islam": "islam", "Kristen": "kristen",
        "Katolik": "katolik", "Hindu": "hindu", "Buddha": "buddha", "Konghucu": "konghucu",
        "Kepercayaan Lain": "other_belief",
    }  # fmt: skip


def test_new_thread_is_returned_as_its_record(siti: Client) -> None:
    thread = write_thread(siti, title="  Menu  ", content="Nasi?\n\nAtau roti?")
    assert thread["author"] == {"id": thread["author"]["id"], "name": "Siti Aminah", "image": None}
    assert isinstance(thread["author"]["id"], int)
    assert thread["category"] == {"id": category_id(), "name": "Medis"}
    assert thread["created_at"].endswith("Z")
    assert {name: thread[name] for name in ("title", "content", "image", "use_pseudonym", "is_owner", "replies")} == {
        "title": "Menu", "content": "Nasi?\n\nAtau roti?", "image": None, "use_pseudonym": False, "is_owner": True,
        "replies": [],
    }  # fmt: skip
    assert (thread["likes_count"], thread["saves_count"], thread["replies_count"]) == (0, 0, 0)


def test_thread_is_read_without_a_token(client: Client, siti: Client) -> None:
    written = write_thread(siti)
    read = read_thread(client, written["id"])
    assert read == {**written, "is_owner": False}


def test_expired_or_wrong_token_is_refused_rather_than_ignored(client: Client, siti: Client) -> None:
    thread = write_thread(siti)
    for path in ("/forum/categories", "/forum/threads", f"/forum/threads/{thread['id']}"):
        assert_error(client.with_token("x.y.z").get(path), 401, "invalid_token")


def test_thread_takes_a_picture_as_multipart(client: Client, siti: Client) -> None:
    form = {
        "category_id": str(category_id()), "title": "Foto", "content": "Lihat", "use_pseudonym": "true",
        "image": (BytesIO(plain("JPEG", (2000, 1000))), "IMG_Siti_Aminah.jpg"),
    }  # fmt: skip
    thread = siti.open("POST", "/forum/threads", data=form, content_type="multipart/form-data").json
    assert thread["use_pseudonym"] is True
    assert thread["image"].startswith("/media/")
    assert client.get(thread["image"]).headers["Content-Type"] == "image/webp"


def test_hostile_picture_leaves_no_thread_behind(siti: Client) -> None:
    form = {
        "category_id": str(category_id()), "title": "Foto", "content": "Lihat",
        "image": (BytesIO(HOSTILE["SVG"]()), "foto.png"),
    }  # fmt: skip
    response = siti.open("POST", "/forum/threads", data=form, content_type="multipart/form-data")
    assert_error(response, 415, "not_an_image")
    assert db.session.scalar(sa.select(sa.func.count(ForumThread.id))) == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "   "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": None}, "title"),
        ({"content": ""}, "content"),
        ({"content": "x" * 20_001}, "content"),
        ({"category_id": 999_999}, "category_id"),
        ({"category_id": 2**63}, "category_id"),
        ({"category_id": "satu"}, "category_id"),
        ({"category_id": None}, "category_id"),
        ({"use_pseudonym": "mungkin"}, "use_pseudonym"),
        ({"use_pseudonym": None}, "use_pseudonym"),
        ({"image": "https://example.com/a.png"}, "image"),
    ],
)
def test_bad_thread_is_refused(siti: Client, change: dict[str, object], field: str) -> None:
    good = {"category_id": category_id(), "title": "Menu", "content": "Nasi?"}
    assert_error(siti.post("/forum/threads", {**good, **change}), 400, "validation_error", field)
    for name in good:
        rest = {key: value for key, value in good.items() if key != name}
        assert_error(siti.post("/forum/threads", rest), 400, "validation_error", name)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/forum/threads"),
        ("PUT", "/forum/threads/1"),
        ("DELETE", "/forum/threads/1"),
        ("POST", "/forum/threads/1/reply"),
        ("POST", "/forum/threads/1/like"),
        ("POST", "/forum/threads/1/save"),
        ("PUT", "/forum/replies/1"),
        ("DELETE", "/forum/replies/1"),
        ("POST", "/forum/replies/1/like"),
        ("POST", "/forum/replies/1/save"),
    ],
)
def test_writing_needs_a_token_and_a_record(client: Client, siti: Client, method: str, path: str) -> None:
    assert_error(client.open(method, path, {"content": "x"}), 401)
    if path != "/forum/threads":
        assert_error(siti.open(method, path.replace("1", "999999"), {"content": "x"}), 404, "not_found")


def test_author_changes_what_is_sent_and_nothing_else(siti: Client) -> None:
    thread = write_thread(siti)
    response = siti.put(
        f"/forum/threads/{thread['id']}", {"title": "Menu baru", "id": 77, "user_id": 1, "likes_count": 9}
    )
    assert response.status_code == 200
    assert response.json == {**thread, "title": "Menu baru", "updated_at": response.json["updated_at"]}


def test_null_title_or_content_is_refused_when_changing(siti: Client) -> None:
    thread = write_thread(siti)
    for name in ("title", "content", "category_id", "use_pseudonym"):
        assert_error(siti.put(f"/forum/threads/{thread['id']}", {name: None}), 400, "validation_error", name)


def test_thread_moves_with_its_count(siti: Client) -> None:
    thread = write_thread(siti)
    moved = siti.put(f"/forum/threads/{thread['id']}", {"category_id": category_id("Umum")}).json
    assert moved["category"]["name"] == "Umum"
    counts = dict(db.session.execute(sa.select(ForumCategory.name, ForumCategory.threads_count)).all())
    assert (counts["Medis"], counts["Umum"]) == (0, 1)
    assert_error(siti.put(f"/forum/threads/{thread['id']}", {"category_id": 999_999}), 400, field="category_id")


def test_picture_is_replaced_and_removed(client: Client, siti: Client) -> None:
    def put(**form: object) -> str | None:
        response = siti.open("PUT", path, data=form, content_type="multipart/form-data")
        assert response.status_code == 200, response.json
        return response.json["image"]

    path = f"/forum/threads/{write_thread(siti)['id']}"
    first = put(image=(BytesIO(plain()), "a.jpg"))
    assert put(title="Tanpa gambar baru") == first
    second = put(image=(BytesIO(plain("PNG")), "b.png"))
    assert second != first
    assert client.get(first).status_code == 404
    assert client.get(second).status_code == 200
    assert siti.put(path, {"image": None}).json["image"] is None
    assert client.get(second).status_code == 404


def test_stranger_and_admin_cannot_edit_a_thread(client: Client, siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    for other in (budi, client.as_(make_admin())):
        assert_error(other.put(f"/forum/threads/{thread['id']}", {"title": "Milikku"}), 403, "not_the_owner")
    assert read_thread(client, thread["id"])["title"] == "Menu harian"


def test_stranger_and_admin_cannot_delete_a_thread(client: Client, siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    for other in (budi, client.as_(make_admin())):
        assert_error(other.delete(f"/forum/threads/{thread['id']}"), 403, "not_the_owner")
    assert read_thread(client, thread["id"])["title"] == "Menu harian"


def test_deleted_thread_takes_everything_along(client: Client, siti: Client, budi: Client) -> None:
    thread = write_thread(siti)
    form = {"content": "Lihat", "image": (BytesIO(plain()), "a.jpg")}
    path = f"/forum/threads/{thread['id']}/reply"
    reply = budi.open("POST", path, data=form, content_type="multipart/form-data").json
    write_reply(siti, thread["id"], parent_id=reply["id"])
    for action in (f"/forum/threads/{thread['id']}/like", f"/forum/replies/{reply['id']}/save"):
        assert budi.post(action).status_code == 200
    response = siti.delete(f"/forum/threads/{thread['id']}")
    assert (response.status_code, response.json) == (200, {"message": "Utas dihapus."})
    assert_error(client.get(f"/forum/threads/{thread['id']}"), 404, "not_found")
    assert client.get(reply["image"]).status_code == 404
    for model in (ForumThread, ForumReply, ThreadMark, ReplyMark):
        assert db.session.scalar(sa.select(sa.func.count()).select_from(model)) == 0
    assert_error(siti.delete(f"/forum/threads/{thread['id']}"), 404, "not_found")


def test_thread_of_a_deleted_account_stays_without_a_name(client: Client, siti: Client) -> None:
    thread = write_thread(siti)
    db.session.execute(sa.text("DELETE FROM users WHERE nama_ktp = 'Siti Aminah'"))
    assert read_thread(client, thread["id"])["author"] == {"id": None, "name": "Akun dihapus", "image": None}
