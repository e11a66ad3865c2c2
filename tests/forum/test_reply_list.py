"""The replies that a person has saved or written."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.forum.service.reads.reply_list import select_reply_list
from tests.forum.posts import write_reply, write_thread
from tests.helpers.client import Client
from tests.helpers.plans import analyse, plan_of
from tests.helpers.statements import Statements


@pytest.fixture
def thread(siti: Client) -> dict[str, Any]:
    return write_thread(siti, title="Menu harian")


def ids(client: Client, **query: object) -> list[int]:
    response = client.get("/forum/replies", query_string=query)
    assert response.status_code == 200, response.json
    return [row["id"] for row in response.json]


def save(client: Client, *replies: dict[str, Any]) -> None:
    for reply in replies:
        assert client.post(f"/forum/replies/{reply['id']}/save").json == {"is_saved": True}


def test_a_row_has_the_reply_and_its_thread_without_nested_replies(
    siti: Client, budi: Client, thread: dict[str, Any]
) -> None:
    reply = write_reply(siti, thread["id"], use_pseudonym=True)
    write_reply(budi, thread["id"], parent_id=reply["id"])
    save(budi, reply)
    (row,) = budi.get("/forum/replies").json
    (shown,) = budi.get(f"/forum/threads/{thread['id']}").json["replies"]
    del shown["replies"]
    assert row == {**shown, "thread": {"id": thread["id"], "title": "Menu harian"}}
    assert (row["is_saved"], row["saves_count"]) == (True, 1)
    assert row["author"] == {"id": None, "name": "Melati", "image": None}


def test_the_filter_mine_lists_own_replies(siti: Client, budi: Client, thread: dict[str, Any]) -> None:
    own, other = write_reply(siti, thread["id"]), write_reply(budi, thread["id"])
    save(siti, other)
    assert ids(siti, mine="true") == [own["id"]]
    assert ids(siti, mine="true", saved="true") == []
    save(siti, own)
    assert ids(siti, mine="true", saved="true") == [own["id"]]


def test_a_deleted_reply_is_in_no_list(siti: Client, budi: Client, thread: dict[str, Any]) -> None:
    reply = write_reply(siti, thread["id"])
    write_reply(budi, thread["id"], parent_id=reply["id"])
    save(budi, reply)
    siti.delete(f"/forum/replies/{reply['id']}")
    assert ids(budi) == ids(siti, mine="true") == []


def test_the_list_is_paged_scrolled_and_searched(siti: Client, budi: Client, thread: dict[str, Any]) -> None:
    texts = ("gula 50%", "garam 500", "gula", "air")
    replies = [write_reply(siti, thread["id"], content=text) for text in texts]
    save(budi, *replies)
    numbers = [reply["id"] for reply in replies][::-1]
    response = budi.get("/forum/replies?page=2&per_page=3")
    assert ([row["id"] for row in response.json], response.headers["X-Total-Count"]) == (numbers[3:], "4")
    response = budi.get(f"/forum/replies?per_page=2&before={numbers[0]}")
    assert [row["id"] for row in response.json] == numbers[1:3]
    assert f"before={numbers[2]}" in response.headers["Link"]
    assert ids(budi, q="GULA") == [replies[2]["id"], replies[0]["id"]]
    assert ids(budi, q="50%") == [replies[0]["id"]]
    assert ids(budi, q="") == numbers
    beyond = budi.get("/forum/replies?page=9&per_page=2")
    assert (beyond.json, beyond.headers["X-Total-Count"]) == ([], "4")


def test_the_list_needs_one_statement(
    siti: Client, budi: Client, thread: dict[str, Any], statements: Statements
) -> None:
    save(budi, *(write_reply(siti, thread["id"]) for _ in range(3)))
    for query in ({}, {"per_page": 2}, {"mine": "true"}, {"q": "gula"}):
        with statements.at_most(2):  # one statement for the list and one for the session
            ids(budi, **query)


#: SQL for 20,000 replies. Each reply is saved by one of 400 people.
FILL = (
    "INSERT INTO users (username, password_hash, nama_ktp) SELECT 'massa' || n, '', 'x' FROM generate_series(1, 400) n",
    "INSERT INTO forum_threads (category_id, user_id, title, content) SELECT 1, min(id), 't', 'c' FROM users",
    """
    INSERT INTO forum_replies (thread_id, depth, user_id, content)
    SELECT t.id, 1, u.first + n % 400, 'c'
    FROM generate_series(1, 20000) n, forum_threads t, (SELECT min(id) AS first FROM users) u
    """,
    """
    INSERT INTO forum_reply_marks (reply_id, user_id, is_saved)
    SELECT r.id, u.first + r.id * 7 % 400, true FROM forum_replies r, (SELECT min(id) AS first FROM users) u
    """,
)


@pytest.mark.slow
def test_no_list_scans_all_replies(committed: Flask) -> None:
    with unit_of_work():
        for statement in FILL:
            db.session.execute(sa.text(statement))
    analyse("forum_replies", "forum_reply_marks", "forum_threads", "users")
    me = db.session.scalars(sa.text("SELECT max(id) - 7 FROM users")).one()
    values = {"caller_id": me, "before": 15_000, "pattern": "%c%", "size": 20, "offset": 0}
    for saved, before, search in product((True, False), repeat=3):
        for mine in (True, False) if saved else (True,):
            statement = select_reply_list(saved=saved, mine=mine, before=before, search=search)
            plan = plan_of(statement, **values)
            assert "Seq Scan on forum_repl" not in plan, plan
