"""Replies: the tree, its depth, and deletions."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import MAX_DEPTH, Post
from tests.forum.posts import read_thread, write_reply
from tests.helpers.client import assert_error


def test_replies_nest_below_their_parents_oldest_first(client, siti, budi, thread_id):
    first = write_reply(budi, thread_id)
    second = write_reply(siti, thread_id)
    below = [write_reply(siti, thread_id, parent_id=first["id"])["id"] for _ in range(2)]
    thread = read_thread(client, thread_id)
    assert [reply["id"] for reply in thread["replies"]] == [first["id"], second["id"]]
    assert [reply["id"] for reply in thread["replies"][0]["replies"]] == below
    assert thread["replies_count"] == 4


def test_nested_replies_show_likes_saves_and_ownership_of_the_caller(siti, budi, thread_id):
    top = write_reply(siti, thread_id)
    nested = write_reply(budi, thread_id, parent_id=top["id"])
    for action in ("like", "save"):
        budi.post(f"/forum/replies/{nested['id']}/{action}")
    reply = read_thread(budi, thread_id)["replies"][0]
    assert (reply["is_liked"], reply["is_saved"], reply["is_owner"]) == (False, False, False)
    (deep,) = reply["replies"]
    assert (deep["is_liked"], deep["is_saved"], deep["is_owner"]) == (True, True, True)
    assert (deep["likes_count"], deep["saves_count"]) == (1, 1)


def test_replies_beyond_the_maximum_depth_are_placed_on_the_last_level(client, siti, thread_id):
    parent = None
    for _ in range(MAX_DEPTH + 5):
        parent = write_reply(siti, thread_id, parent_id=parent)["id"]
    level = read_thread(client, thread_id)["replies"]
    for _ in range(MAX_DEPTH - 1):
        assert len(level) == 1
        level = level[0]["replies"]
    assert len(level) == 6
    assert all(reply["replies"] == [] for reply in level)


def test_deleted_reply_with_replies_stays_as_a_stub(client, siti, budi, thread_id):
    top = write_reply(budi, thread_id)
    below = write_reply(siti, thread_id, parent_id=top["id"])
    siti.post(f"/forum/replies/{top['id']}/like")
    budi.delete(f"/forum/replies/{top['id']}")
    thread = read_thread(budi, thread_id)
    (stub,) = thread["replies"]
    expected = {
        "content": None, "author": None, "image": None, "is_deleted": True, "is_owner": False, "is_liked": False,
        "likes_count": 0,
    }  # fmt: skip
    assert {name: stub[name] for name in expected} == expected
    assert [node["id"] for node in stub["replies"]] == [below["id"]]
    assert thread["replies_count"] == 1
    path, body = f"/forum/replies/{top['id']}", {"content": "kembali", "reason": "spam"}
    for action in ("like", "save", "lapor", "blokir"):
        assert_error(siti.post(f"{path}/{action}", body), 404, "not_found")
    for method in ("PUT", "DELETE"):
        assert_error(budi.open(method, path, body), 404, "not_found")
    assert read_thread(client, thread_id)["replies_count"] == 1


def test_stubs_are_deleted_with_the_last_reply_below_them(client, siti, thread_id):
    top = write_reply(siti, thread_id)
    middle = write_reply(siti, thread_id, parent_id=top["id"])
    leaf = write_reply(siti, thread_id, parent_id=middle["id"])
    for reply in (top, middle):
        siti.delete(f"/forum/replies/{reply['id']}")
    assert len(read_thread(client, thread_id)["replies"]) == 1
    siti.delete(f"/forum/replies/{leaf['id']}")
    assert read_thread(client, thread_id)["replies"] == []
    assert db.session.scalar(sa.select(sa.func.count(Post.id))) == 1
