"""Pictures of posts with a moderation case. Moderators see these pictures even if the post is hidden."""

from __future__ import annotations

from unittest import mock

import pytest

from app.core.errors import Unavailable
from app.core.media import storage
from tests.forum.posts import add_picture, cases, image_path, moderate, write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def test_a_moderator_sees_the_picture_of_a_post_hidden_by_reports(client: Client, siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    address = add_picture(siti, f"threads/{thread_id}")
    with mock.patch("app.forum.service.reports._may_hide", return_value=True):  # now one report hides a post
        client.as_(make_user()).post(f"/forum/threads/{thread_id}/lapor", {"reason": "spam"})
    assert client.get(address).status_code == 404
    (case,) = cases(admin, "?state=open")
    assert case["has_image"] is True
    assert admin.get(image_path(case)).status_code == 200


def test_a_case_of_a_reply_has_the_picture_of_the_reply_not_of_the_thread(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id = write_thread(siti)["id"]
    add_picture(siti, f"threads/{thread_id}")
    bare, illustrated = (write_reply(siti, thread_id)["id"] for _ in range(2))
    picture = client.get(add_picture(siti, f"replies/{illustrated}")).data
    case = moderate(admin, "hide", reply_id=illustrated)
    assert (case["has_image"], admin.get(image_path(case)).data) == (True, picture)
    case = moderate(admin, "hide", reply_id=bare)
    assert case["has_image"] is False
    assert_error(admin.get(image_path(case)), 404, "not_found")


def test_a_case_shows_a_picture_that_the_author_adds_to_a_hidden_post(siti: Client, admin: Client) -> None:
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
def test_a_case_of_a_deleted_post_has_no_picture(siti: Client, admin: Client, kind: str, way: str) -> None:
    post_id, path = write_thread(siti)["id"], "threads"
    if kind == "reply":
        thread_id = post_id
        post_id, path = write_reply(siti, thread_id)["id"], "replies"
        write_reply(siti, thread_id, parent_id=post_id)  # a deleted reply with replies stays as a stub
    add_picture(siti, f"{path}/{post_id}")
    case = moderate(admin, "hide", **{f"{kind}_id": post_id})
    if way == "the author":
        assert siti.delete(f"/forum/{path}/{post_id}").status_code == 200
    else:
        moderate(admin, "delete", **{f"{kind}_id": post_id})
    assert [each["has_image"] for each in cases(admin)] == [False]
    assert_error(admin.get(image_path(case)), 404, "not_found")


def test_an_unavailable_picture_store_is_503(siti: Client, admin: Client) -> None:
    thread_id = write_thread(siti)["id"]
    add_picture(siti, f"threads/{thread_id}")
    case = moderate(admin, "hide", thread_id=thread_id)
    with mock.patch.object(storage.FolderStore, "get", side_effect=Unavailable):
        assert_error(admin.get(image_path(case)), 503)
