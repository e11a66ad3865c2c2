"""The picture of the post that a case is about: moderators see it, whether the post is shown or hidden."""

from __future__ import annotations

import io
from unittest import mock

import pytest

from app.core.errors import Unavailable
from app.core.media import pictures, storage
from tests.core.media.samples import plain
from tests.forum.posts import cases, moderate, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def add_picture(writer: Client, path: str) -> str:
    """Give a post a picture; returns its address."""
    response = writer.put(f"/forum/{path}", data={"image": (io.BytesIO(plain()), "a.jpg")})
    assert response.status_code == 200, response.json
    address: str = response.json["image"]
    return address


def image_path(case: dict[str, object]) -> str:
    return f"/admins/moderasi/{case['id']}/gambar"


def test_it_is_the_same_whether_the_post_is_shown_or_hidden(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    address = add_picture(siti, f"threads/{thread_id}")
    picture = client.get(address).data
    for decision in ("keep", "hide", "keep"):
        case = moderate(admin, decision, thread_id=thread_id)
        assert case["has_image"] is True
        response = admin.get(image_path(case))
        assert (response.status_code, response.mimetype, response.data) == (200, "image/webp", picture)
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Content-Disposition"] == f'inline; filename="kasus-{case["id"]}.webp"'
        assert client.get(address).status_code == (404 if decision == "hide" else 200)


def test_that_of_a_post_that_reports_have_hidden(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    address = add_picture(siti, f"threads/{thread_id}")
    with mock.patch("app.forum.service.reports._may_hide", return_value=True):  # the age of accounts is tried elsewhere
        client.as_(make_user()).post(f"/forum/threads/{thread_id}/lapor", {"reason": "spam"})
    assert client.get(address).status_code == 404
    (case,) = cases(admin, "?state=open")
    assert case["has_image"] is True
    assert admin.get(image_path(case)).status_code == 200


def test_of_a_reply_it_is_the_replys_own(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    add_picture(siti, f"threads/{thread_id}")
    bare, illustrated = (write_reply(siti, thread_id)["id"] for _ in range(2))
    picture = client.get(add_picture(siti, f"replies/{illustrated}")).data
    case = moderate(admin, "hide", reply_id=illustrated)
    assert (case["has_image"], admin.get(image_path(case)).data) == (True, picture)
    case = moderate(admin, "hide", reply_id=bare)
    assert case["has_image"] is False
    assert_error(admin.get(image_path(case)), 404, "not_found")


def test_one_that_the_author_puts_in_its_place_while_hidden_is_shown(siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    case = moderate(admin, "hide", thread_id=thread_id)
    assert case["has_image"] is False
    add_picture(siti, f"threads/{thread_id}")
    assert [each["has_image"] for each in cases(admin)] == [True]
    assert admin.get(image_path(case)).status_code == 200
    assert siti.put(f"/forum/threads/{thread_id}", {"image": None}).status_code == 200
    assert [each["has_image"] for each in cases(admin)] == [False]
    assert_error(admin.get(image_path(case)), 404, "not_found")


@pytest.mark.parametrize("way", ["the author", "a moderator"])
@pytest.mark.parametrize("kind", ["thread", "reply"])
def test_what_is_deleted_has_none(siti: Client, admin: Client, kind: str, way: str) -> None:
    post_id, path = write_thread(siti)["id"], "threads"
    if kind == "reply":
        thread_id = post_id
        post_id, path = write_reply(siti, thread_id)["id"], "replies"
        write_reply(siti, thread_id, parent_id=post_id)  # below it, so that it stays as a stub
    add_picture(siti, f"{path}/{post_id}")
    case = moderate(admin, "hide", **{f"{kind}_id": post_id})
    if way == "the author":
        assert siti.delete(f"/forum/{path}/{post_id}").status_code == 200
    else:
        moderate(admin, "delete", **{f"{kind}_id": post_id})
    assert [each["has_image"] for each in cases(admin)] == [False]
    assert_error(admin.get(image_path(case)), 404, "not_found")


def test_what_is_not_there_is_not_found(siti: Client, admin: Client) -> None:
    assert_error(admin.get("/admins/moderasi/999999/gambar"), 404, "not_found")
    thread_id = write_thread(siti)["id"]
    address = add_picture(siti, f"threads/{thread_id}")
    case = moderate(admin, "hide", thread_id=thread_id)
    pictures.remove(address.removeprefix("/media/"))
    assert_error(admin.get(image_path(case)), 404, "not_found")


def test_a_store_that_is_away_is_503(siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    add_picture(siti, f"threads/{thread_id}")
    case = moderate(admin, "hide", thread_id=thread_id)
    with mock.patch.object(storage.FolderStore, "get", side_effect=Unavailable):
        assert_error(admin.get(image_path(case)), 503)


def test_it_is_for_administrators_alone(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    add_picture(siti, f"threads/{thread_id}")
    path = image_path(moderate(admin, "hide", thread_id=thread_id))
    assert_error(client.get(path), 401)
    assert_error(siti.get(path), 403)
    assert_error(client.as_(make_user("pendamping")).get(path), 403)
