"""Long threads: each response has a part of the replies, and all responses together have every reply once."""

import re

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import MAX_DEPTH, Post
from tests.forum.posts import write_reply


def fill(thread_id, count, *, depth=1, parent_id=None):
    """Add `count` (at least 1) replies with the same parent. Return their ids."""
    rows = sa.insert(Post).returning(Post.id, sort_by_parameter_order=True)
    values = {"root_id": thread_id, "depth": depth, "parent_id": parent_id, "content": "x"}
    ids = list(db.session.scalars(rows, [values] * count))
    db.session.execute(sa.update(Post).where(Post.id == thread_id).values(replies_count=Post.replies_count + count))
    return ids


def ids_of(replies):
    return [id_ for reply in replies for id_ in (reply["id"], *ids_of(reply["replies"]))]


def parts(reader, path, *, most=30):
    """Yield all responses for a thread. The header `Link` of each response has the URL of the next response."""
    for _ in range(most):
        response = reader.get(path)
        yield response.json
        link = re.fullmatch(r'<(?:https?://[^/]+)?(/[^>]+)>; rel="next"', response.headers.get("Link", ""))
        if link is None:
            return
        path = link[1]
    raise AssertionError("there is no end to it")


def test_a_thread_with_1200_replies_is_returned_in_parts_of_500(client, siti, thread_id, statements):
    parent_id = None
    ids = []
    for depth in range(1, MAX_DEPTH + 1):
        ids += fill(thread_id, 60, depth=depth, parent_id=parent_id)
        parent_id = ids[-60]
    for reader, limit in ((client, 2), (siti, 3)):
        with statements.at_most(limit):
            response = reader.get(f"/forum/threads/{thread_id}")
        assert response.status_code == 200
        assert response.data.count(b'"parent_id"') == 500
    received = list(parts(client, f"/forum/threads/{thread_id}"))
    assert [part.get("replies_truncated") for part in received] == [True, True, None]
    assert sorted(id_ for part in received for id_ in ids_of(part["replies"])) == ids
    assert {part["replies_count"] for part in received} == {1200}


def test_a_thread_of_500_replies_is_returned_whole_without_a_link(client, thread_id):
    fill(thread_id, 500)
    response = client.get(f"/forum/threads/{thread_id}")
    assert len(response.json["replies"]) == 500
    assert "replies_truncated" not in response.json
    assert "Link" not in response.headers


def test_a_reply_whose_parent_came_earlier_is_on_the_first_level(client, thread_id):
    (top,) = fill(thread_id, 1)
    below = fill(thread_id, 2, depth=2, parent_id=top)
    rest = client.get(f"/forum/threads/{thread_id}?after={below[0]}").json
    assert [(reply["id"], reply["parent_id"]) for reply in rest["replies"]] == [(below[1], top)]


def test_the_response_to_an_edit_of_a_reply_is_truncated(siti, thread_id):
    reply_id = write_reply(siti, thread_id)["id"]
    fill(thread_id, 501, depth=2, parent_id=reply_id)
    changed = siti.put(f"/forum/replies/{reply_id}", {"content": "Lain."})
    assert (len(changed.json["replies"]), changed.json["replies_truncated"]) == (499, True)


def test_a_thread_without_its_replies_needs_one_statement(client, thread_id, statements):
    fill(thread_id, 20)
    with statements.at_most(1):
        response = client.get(f"/forum/threads/{thread_id}?replies=false")
    assert (response.json["replies"], response.json["replies_count"]) == ([], 20)
    assert "replies_truncated" not in response.json
