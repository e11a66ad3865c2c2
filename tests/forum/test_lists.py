"""The list of threads: order, filters, pages, and number of statements."""

from __future__ import annotations

from app.forum.service.toggles import remove_all_marks
from tests.forum.posts import category_id, read_thread, write_reply, write_thread
from tests.helpers.client import Client
from tests.helpers.statements import Statements


def ids(client: Client, query: str = "") -> list[int]:
    response = client.get(f"/forum/threads{query}")
    assert response.status_code == 200, response.json
    return [row["id"] for row in response.json]


def test_empty_list_is_an_empty_array(client: Client) -> None:
    response = client.get("/forum/threads")
    assert (response.status_code, response.json, response.headers["X-Total-Count"]) == (200, [], "0")
    assert ids(client, "?category_id=999999&page=7") == []


def test_the_list_is_filtered_by_category(client: Client, siti: Client) -> None:
    first = write_thread(siti)["id"]
    other = write_thread(siti, category_id=category_id("Umum"))["id"]
    assert ids(client, f"?category_id={category_id()}") == [first]
    assert ids(client, f"?category_id={category_id('Umum')}") == [other]
    assert client.get(f"/forum/threads?category_id={category_id()}").headers["X-Total-Count"] == "1"


def test_pages_have_the_total_count_and_a_link_to_the_next_page(client: Client, siti: Client) -> None:
    written = [write_thread(siti)["id"] for _ in range(5)][::-1]
    response = client.get("/forum/threads?page=2&per_page=2")
    assert [row["id"] for row in response.json] == written[2:4]
    assert response.headers["X-Total-Count"] == "5"
    assert response.headers["Link"] == '</api/forum/threads?page=3&per_page=2>; rel="next"'
    beyond = client.get("/forum/threads?page=9&per_page=2")
    assert (beyond.json, beyond.headers["X-Total-Count"], beyond.headers.get("Link")) == ([], "5", None)


def test_paging_by_the_last_id_returns_each_thread_once(client: Client, siti: Client) -> None:
    written = [write_thread(siti)["id"] for _ in range(5)][::-1]
    seen = ids(client, "?per_page=2")
    while len(seen) < 5:
        write_thread(siti)  # a new thread must not change the next page
        response = client.get(f"/forum/threads?per_page=2&before={seen[-1]}")
        seen += [row["id"] for row in response.json]
        expected = f'/api/forum/threads?before={seen[-1]}&per_page=2>; rel="next"'
        assert (expected in response.headers.get("Link", "")) == (len(response.json) == 2)
    assert seen == written


def test_saved_and_mine_filter_by_the_caller(client: Client, siti: Client, budi: Client) -> None:
    first, second, third = (write_thread(writer)["id"] for writer in (siti, budi, siti))
    for thread_id in (first, second):
        budi.post(f"/forum/threads/{thread_id}/save")
    siti.post(f"/forum/threads/{third}/like")
    assert ids(budi, "?saved=true") == [second, first]
    assert ids(budi, "?saved=true&mine=true") == [second]
    assert ids(siti, "?mine=true") == [third, first]
    assert ids(siti, "?saved=true") == []
    assert ids(budi, "?saved=true&per_page=1&page=2") == [first]
    assert ids(budi, f"?saved=true&before={second}&category_id={category_id()}") == [first]
    response = budi.get("/forum/threads?saved=true&per_page=1")
    assert (response.headers["X-Total-Count"], response.json[0]["is_saved"]) == ("2", True)
    budi.post(f"/forum/threads/{first}/save")
    assert ids(budi, "?saved=true") == [second]


def test_remove_all_marks_subtracts_the_likes_and_saves_of_a_person(client: Client, siti: Client, budi: Client) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    for path in (f"threads/{thread_id}/like", f"replies/{reply_id}/save", f"replies/{reply_id}/like"):
        for person in (budi, siti):
            person.post(f"/forum/{path}")
    budi.post(f"/forum/replies/{reply_id}/like")
    remove_all_marks(budi.id)
    thread = read_thread(client, thread_id)
    (reply,) = thread["replies"]
    assert (thread["likes_count"], reply["saves_count"], reply["likes_count"]) == (1, 1, 1)


def test_the_list_needs_one_statement_with_and_without_filters(
    client: Client, siti: Client, statements: Statements
) -> None:
    for _ in range(3):
        write_thread(siti)
    by_category, before = f"?category_id={category_id()}", len(statements.seen)
    for query in (
        "",
        "?per_page=2",
        "?per_page=2&page=2",
        by_category,
        "?per_page=2&before=999999",
    ):
        for reader, limit in ((client, 1), (siti, 2)):
            with statements.at_most(limit):
                reader.get(f"/forum/threads{query}")
    for query in ("?saved=true", "?mine=true"):
        with statements.at_most(2):
            siti.get(f"/forum/threads{query}")
    # Each request needs one statement for the list. A request with a token needs a second statement for the session.
    assert len(statements.seen) - before == 5 * 3 + 2 * 2


def test_categories_threads_and_toggles_need_at_most_three_statements(
    client: Client, siti: Client, statements: Statements
) -> None:
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    with statements.at_most(1):
        client.get("/forum/categories")
    for reader, limit in ((client, 2), (siti, 3)):
        with statements.at_most(limit):
            reader.get(f"/forum/threads/{thread_id}")
    for path in (f"threads/{thread_id}/like", f"threads/{thread_id}/save", f"replies/{reply_id}/like"):
        with statements.at_most(2):
            siti.post(f"/forum/{path}")
