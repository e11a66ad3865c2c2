"""Search of threads by title or content: matches, no matches by author, and cost."""

from __future__ import annotations

from itertools import product

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.forum.service.reads import thread_list
from app.forum.service.reads.thread_list import TextSearch, select_page
from tests.forum.posts import category_id, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of
from tests.helpers.statements import Statements


def found(client: Client, q: str, **query: object) -> list[int]:
    response = client.get("/forum/threads", query_string={"q": q, **query})
    assert response.status_code == 200, response.json
    return [row["id"] for row in response.json]


def test_a_search_matches_a_part_of_title_or_content(client: Client, siti: Client) -> None:
    first = write_thread(siti, title="Menu untuk Diabetes")["id"]
    second = write_thread(siti, content="Berapa gula darah puasa penderita DIABETES?")["id"]
    write_thread(siti)
    assert found(client, "diabetes") == found(siti, "DiaBet") == [second, first]
    assert found(client, "gula darah") == [second]
    assert found(client, "tidak ada") == []
    row = client.get("/forum/threads?q=gula darah").json[0]
    assert row == client.get("/forum/threads").json[1]


@pytest.mark.parametrize("signs", ["50%", "%", "a_b", "_", "\\", "'"])
def test_wildcard_characters_are_searched_literally(client: Client, siti: Client, signs: str) -> None:
    wanted = write_thread(siti, content=f"x {signs} y")["id"]
    write_thread(siti, content="500 aXb /")
    assert found(client, signs) == [wanted]


def test_a_search_does_not_match_author_names(client: Client, siti: Client) -> None:
    hidden = write_thread(siti, use_pseudonym=True)["id"]
    write_thread(siti)
    for q in ("Siti Aminah", "aminah", "siti", "Melati"):
        assert found(client, q) == found(siti, q) == []
    (row,) = client.get("/forum/threads?q=menu&per_page=1&page=2").json
    assert (row["id"], row["author"]["name"], row["author"]["id"]) == (hidden, "Melati", None)


def test_a_search_can_be_combined_with_the_other_filters(client: Client, siti: Client, budi: Client) -> None:
    first, second = (write_thread(siti, category_id=category_id(name))["id"] for name in ("Umum", "Medis"))
    budi.post(f"/forum/threads/{first}/save")
    assert found(client, "menu", category_id=category_id("Medis")) == [second]
    assert found(budi, "menu", saved="true") == [first]
    assert found(siti, "menu", mine="true") == [second, first]
    assert found(budi, "menu", mine="true") == []
    assert found(client, "menu", before=second) == [first]
    response = client.get("/forum/threads?q=menu&per_page=1")
    assert response.headers["X-Total-Count"] == "2"
    assert "q=menu" in response.headers["Link"]


def test_an_empty_search_is_ignored_and_a_too_long_search_is_refused(client: Client, siti: Client) -> None:
    thread_id = write_thread(siti)["id"]
    assert found(client, "") == found(client, "  ") == [thread_id]
    assert_error(client.get(f"/forum/threads?q={'x' * 101}"), 400, "validation_error", "q")
    assert_error(client.get("/forum/threads?q=x&saved=true"), 401)


def test_a_text_too_short_for_the_index_is_searched_in_newest_threads_only(
    client: Client, siti: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_list, "MAX_SEARCHED", 2)
    thread_list.select_page.cache_clear()
    old, _, new = (write_thread(siti, content=text)["id"] for text in ("qz lama", "lain", "qz baru"))
    assert found(client, "qz") == [new]
    assert found(client, "qz lama") == [old]
    thread_list.select_page.cache_clear()


def test_a_search_needs_one_statement(client: Client, siti: Client, statements: Statements) -> None:
    for _ in range(3):
        write_thread(siti)
    for q in ("menu", "me"):
        with statements.at_most(1):
            assert len(found(client, q, per_page=2)) == 2
    with statements.at_most(2):
        found(siti, "menu")


#: SQL that inserts 20,000 threads written by 20 people. All threads have a common word. Every 2,000th has a rare word.
FILL = """
    INSERT INTO forum_threads (category_id, user_id, title, content)
    SELECT 1 + n % 10, (CAST(:authors AS bigint[]))[1 + n % 20], 'Judul ' || md5(n::text), 'umum ' || md5((-n)::text)
           || CASE WHEN n % 2000 = 0 THEN ' langka' ELSE '' END
    FROM generate_series(1, 20000) n
"""


@pytest.mark.slow
def test_no_search_scans_all_threads(committed: Flask) -> None:
    with unit_of_work():
        authors = [make_user().id for _ in range(20)]
        db.session.execute(sa.text(FILL), {"authors": authors})
    me = authors[0]
    analyse("forum_threads", "forum_thread_marks", "forum_blocks", "users")
    values = {"caller_id": me, "category_id": 3, "before": 9000, "size": 20, "offset": 0}
    kinds: list[tuple[TextSearch, str]] = [
        *(("trigrams", f"%{word}%") for word in ("langka", "umum", "zzz")),
        *(("newest", f"%{text}%") for text in ("zz", r"\%")),
    ]
    for (search, pattern), by_category, before, mine in product(kinds, *[(True, False)] * 3):
        statement = select_page(by_category=by_category, before=before, saved=False, mine=mine, search=search)
        plan = plan_of(statement, **values, pattern=pattern)
        assert "Seq Scan on forum_threads" not in plan, f"{pattern}\n{plan}"
    assert "ix_forum_threads_searched" in plan_of(
        select_page(by_category=False, before=False, saved=False, mine=False, search="trigrams"),
        **values,
        pattern="%langka%",
    )
