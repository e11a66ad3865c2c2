"""Long threads: each response has a part of the replies, and all responses together have every reply once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import MAX_DEPTH, ForumReply, ForumThread
from tests.forum.posts import write_reply, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.statements import Statements

MAX_BYTES = 2_000_000


@pytest.fixture
def thread_id(siti: Client) -> int:
    return int(write_thread(siti)["id"])


def fill(thread_id: int, count: int, *, content: str = "x", depth: int = 1, parent_id: int | None = None) -> list[int]:
    """Add `count` (at least 1) replies with the same parent. Return their ids."""
    rows = sa.insert(ForumReply).returning(ForumReply.id, sort_by_parameter_order=True)
    values = {"thread_id": thread_id, "depth": depth, "parent_id": parent_id, "content": content}
    ids = list(db.session.scalars(rows, [values] * count))
    db.session.execute(sa.update(ForumThread).values(replies_count=ForumThread.replies_count + count))
    return ids


def ids_of(replies: list[dict[str, Any]]) -> list[int]:
    return [id_ for reply in replies for id_ in (reply["id"], *ids_of(reply["replies"]))]


def parts(reader: Client, path: str, *, most: int = 30) -> Iterator[dict[str, Any]]:
    """Yield all responses for a thread. The header `Link` of each response has the URL of the next response."""
    for _ in range(most):
        response = reader.get(path)
        assert response.status_code == 200
        assert len(response.data) <= MAX_BYTES
        assert response.json is not None
        yield response.json
        link = re.fullmatch(r'<(?:https?://[^/]+)?(/[^>]+)>; rel="next"', response.headers.get("Link", ""))
        if link is None:
            return
        path = link[1]
    raise AssertionError("there is no end to it")


def test_a_thread_with_5000_replies_is_returned_in_parts_of_1000(
    client: Client, siti: Client, thread_id: int, statements: Statements
) -> None:
    parent_id: int | None = None
    ids: list[int] = []
    for depth in range(1, MAX_DEPTH + 1):
        ids += fill(thread_id, 250, depth=depth, parent_id=parent_id)
        parent_id = ids[-250]
    for reader, limit in ((client, 2), (siti, 3)):
        with statements.at_most(limit):
            response = reader.get(f"/forum/threads/{thread_id}")
        assert response.status_code == 200
        assert response.data.count(b'"parent_id"') == 1000
    received = list(parts(client, f"/forum/threads/{thread_id}"))
    assert [part.get("replies_truncated") for part in received] == [True] * 4 + [None]
    assert sorted(id_ for part in received for id_ in ids_of(part["replies"])) == ids
    assert {part["replies_count"] for part in received} == {5000}


def test_a_response_has_two_million_bytes_at_most(client: Client, siti: Client, thread_id: int) -> None:
    ids = fill(thread_id, 120, content="a" * 20_000) + fill(thread_id, 20, content="\1" * 20_000)
    first, *others = parts(client, f"/forum/threads/{thread_id}")
    assert first["replies_truncated"] is True
    assert len(first["replies"]) == 98  # each reply has about 20,350 bytes
    assert [id_ for part in (first, *others) for id_ in ids_of(part["replies"])] == ids
    changed = siti.put(f"/forum/threads/{thread_id}", {"title": "Judul lain"})
    assert (len(changed.data) <= MAX_BYTES, changed.json["replies_truncated"]) == (True, True)


@pytest.mark.parametrize("count", [1, 10, 12, 13, 1000])
def test_a_thread_within_the_limits_is_returned_whole_without_a_link(
    client: Client, thread_id: int, count: int
) -> None:
    fill(thread_id, count)
    response = client.get(f"/forum/threads/{thread_id}")
    assert response.json is not None
    assert len(response.json["replies"]) == count
    assert "replies_truncated" not in response.json
    assert "Link" not in response.headers


def test_a_response_with_twelve_longest_replies_is_below_the_size_limit(client: Client, thread_id: int) -> None:
    """The longest replies have only control characters, because each of these takes six bytes in JSON."""
    fill(thread_id, 12, content="\1" * 20_000)
    response = client.get(f"/forum/threads/{thread_id}")
    assert len(response.data) < MAX_BYTES


def test_a_page_has_top_level_replies_with_all_their_nested_replies(
    client: Client, siti: Client, thread_id: int, statements: Statements
) -> None:
    tops = fill(thread_id, 5)
    below = fill(thread_id, 3, depth=2, parent_id=tops[3])
    deeper = fill(thread_id, 2, depth=3, parent_id=below[1])
    other_id = write_thread(siti)["id"]
    write_reply(siti, other_id)
    with statements.at_most(2):
        second = client.get(f"/forum/threads/{thread_id}?page=2&per_page=2")
    assert second.json is not None
    assert [reply["id"] for reply in second.json["replies"]] == tops[2:4]
    assert ids_of(second.json["replies"]) == [tops[2], tops[3], below[0], below[1], *deeper, below[2]]
    assert second.headers["X-Total-Count"] == "5"
    assert re.findall(r'page=(\d)&per_page=2>; rel="(\w+)"', second.headers["Link"]) == [("3", "next")]
    assert "replies_truncated" not in second.json
    beyond = client.get(f"/forum/threads/{thread_id}?page=9&per_page=2")
    assert (beyond.status_code, beyond.json["replies"], beyond.headers["X-Total-Count"]) == (200, [], "5")
    assert client.get(f"/forum/threads/{thread_id}?per_page=100").json["title"] == "Menu harian"


def test_a_page_is_truncated_by_size_and_after_returns_the_rest(client: Client, thread_id: int) -> None:
    top = fill(thread_id, 1)[0]
    below = fill(thread_id, 300, content="a" * 20_000, depth=2, parent_id=top)
    page = client.get(f"/forum/threads/{thread_id}?page=1&per_page=1")
    assert (len(page.data) <= MAX_BYTES, page.json["replies_truncated"]) == (True, True)
    shown = ids_of(page.json["replies"])
    rest = parts(client, f"/forum/threads/{thread_id}?after={shown[-1]}")
    assert shown + [id_ for part in rest for id_ in ids_of(part["replies"])] == [top, *below]


def test_the_response_to_an_edit_of_a_reply_is_truncated_by_size(siti: Client, thread_id: int) -> None:
    reply_id = write_reply(siti, thread_id)["id"]
    fill(thread_id, 300, content="a" * 20_000, depth=2, parent_id=reply_id)
    changed = siti.put(f"/forum/replies/{reply_id}", {"content": "Lain."})
    assert (changed.status_code, len(changed.data) <= MAX_BYTES) == (200, True)
    assert changed.json["replies_truncated"] is True


def test_a_thread_without_its_replies_needs_one_statement(
    client: Client, thread_id: int, statements: Statements
) -> None:
    fill(thread_id, 20)
    with statements.at_most(1):
        response = client.get(f"/forum/threads/{thread_id}?replies=false")
    assert (response.json["replies"], response.json["replies_count"]) == ([], 20)
    assert "replies_truncated" not in response.json


@pytest.mark.parametrize("query", ["page=0", "per_page=101", "page=x", "after=-1", "replies=perhaps"])
def test_an_invalid_query_is_refused(client: Client, thread_id: int, query: str) -> None:
    assert_error(client.get(f"/forum/threads/{thread_id}?{query}"), 400, "validation_error")


@pytest.mark.parametrize("query", ["", "?page=1", "?after=5", "?replies=false"])
def test_an_unknown_thread_is_404(client: Client, query: str) -> None:
    assert_error(client.get(f"/forum/threads/999999{query}"), 404, "not_found")
