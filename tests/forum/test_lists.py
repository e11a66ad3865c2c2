"""Lists of threads and replies: order, filters, pages, search, and number of statements."""

from app.forum.service import marks
from tests.forum.posts import category_id, read_thread, write_reply, write_thread


def ids(client, query=""):
    return [row["id"] for row in client.get(f"/forum/threads{query}").ok()]


def test_pages_have_the_total_count_and_a_link_to_the_next_page(client, siti):
    written = [write_thread(siti)["id"] for _ in range(5)][::-1]
    response = client.get("/forum/threads?page=2&per_page=2")
    assert [row["id"] for row in response.json] == written[2:4]
    assert response.headers["X-Total-Count"] == "5"
    assert response.headers["Link"] == '</api/forum/threads?page=3&per_page=2>; rel="next"'
    beyond = client.get("/forum/threads?page=9&per_page=2")
    assert (beyond.json, beyond.headers["X-Total-Count"], beyond.headers.get("Link")) == ([], "5", None)


def test_the_list_is_filtered_by_category_text_save_and_author(client, siti, budi):
    of_umum, of_medis = (f"category_id={category_id(name)}" for name in ("Umum", "Medis"))
    umum, medis = (write_thread(siti, category_id=category_id(name))["id"] for name in ("Umum", "Medis"))
    own = write_thread(budi, title="Senam")["id"]
    for thread_id in (umum, own):
        budi.post(f"/forum/threads/{thread_id}/save")
    siti.post(f"/forum/threads/{medis}/like")
    for reader, query, expected in (
        (client, of_umum, [umum]), (client, of_medis, [own, medis]), (client, f"q=menu&{of_medis}", [medis]),
        (budi, "saved=true", [own, umum]), (budi, "saved=true&mine=true", [own]), (budi, "q=menu&saved=true", [umum]),
        (budi, f"saved=true&{of_medis}", [own]), (budi, "saved=true&per_page=1&page=2", [umum]),
        (siti, "mine=true", [medis, umum]), (siti, "q=menu&mine=true", [medis, umum]), (siti, "saved=true", []),
    ):  # fmt: skip
        assert ids(reader, f"?{query}") == expected, query
    for reader, query in ((client, of_medis), (budi, "saved=true"), (client, "q=menu")):
        response = reader.get(f"/forum/threads?{query}&per_page=1")
        assert response.headers["X-Total-Count"] == "2"
        assert query in response.headers["Link"]
    budi.post(f"/forum/threads/{umum}/save")
    assert ids(budi, "?saved=true") == [own]


def test_removing_all_marks_of_a_person_subtracts_likes_and_saves(client, siti, budi):
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    for path in (f"threads/{thread_id}/like", f"replies/{reply_id}/save", f"replies/{reply_id}/like"):
        for person in (budi, siti):
            person.post(f"/forum/{path}")
    budi.post(f"/forum/replies/{reply_id}/like")
    marks.remove_all(budi.id)
    thread = read_thread(client, thread_id)
    (reply,) = thread["replies"]
    assert (thread["likes_count"], reply["saves_count"], reply["likes_count"]) == (1, 1, 1)


# --- search ---------------------------------------------------------------------------------------------------------


def test_a_search_matches_a_part_of_title_or_content(client, siti):
    first = write_thread(siti, title="Menu untuk Diabetes")["id"]
    second = write_thread(siti, content="Berapa gula darah puasa penderita DIABETES?")["id"]
    write_thread(siti)
    assert ids(client, "?q=diabetes") == ids(siti, "?q=DiaBet") == [second, first]
    assert ids(client, "?q=gula darah") == [second]
    assert ids(client, "?q=tidak ada") == ids(client, "?q=.") == []  # the signs of patterns stand for themselves
    assert client.get("/forum/threads?q=gula darah").json[0] == client.get("/forum/threads").json[1]
    assert ids(client, "?q=") == ids(client, "?q=%20") == ids(client)


def test_a_search_does_not_match_author_names(client, siti):
    hidden = write_thread(siti, use_pseudonym=True)["id"]
    write_thread(siti)
    for q in ("Siti Aminah", "aminah", "siti", "Melati"):
        assert ids(client, f"?q={q}") == ids(siti, f"?q={q}") == []
    (row,) = client.get("/forum/threads?q=menu&per_page=1&page=2").json
    assert (row["id"], row["author"]["name"], row["author"]["id"]) == (hidden, "Melati", None)


# --- replies --------------------------------------------------------------------------------------------------------


def test_a_reply_in_a_list_has_its_thread_and_no_nested_replies(siti, budi):
    thread_id = write_thread(siti)["id"]
    reply = write_reply(siti, thread_id, use_pseudonym=True)
    write_reply(budi, thread_id, parent_id=reply["id"])
    budi.post(f"/forum/replies/{reply['id']}/save")
    (row,) = budi.get("/forum/replies").json
    (shown,) = read_thread(budi, thread_id)["replies"]
    del shown["replies"]
    assert row == {**shown, "thread": {"id": thread_id, "title": "Menu harian"}}
    assert (row["is_saved"], row["author"]) == (True, {"id": None, "name": "Melati", "image": None})
    siti.delete(f"/forum/replies/{reply['id']}")  # a stub is in no list
    assert budi.get("/forum/replies").json == siti.get("/forum/replies?mine=true").json == []


def test_the_list_of_replies_is_filtered_paged_and_searched(siti, budi):
    def found(who, **query):
        return [row["id"] for row in who.get("/forum/replies", query_string=query).json]

    thread_id = write_thread(siti)["id"]
    texts = ("gula 50%", "garam 500", "gula", "air")
    replies = [write_reply(siti, thread_id, content=text)["id"] for text in texts]
    other = write_reply(budi, thread_id)["id"]
    for reply_id in replies:
        budi.post(f"/forum/replies/{reply_id}/save")
    response = budi.get("/forum/replies?page=2&per_page=3")
    assert ([row["id"] for row in response.json], response.headers["X-Total-Count"]) == ([replies[0]], "4")
    assert found(budi, q="GULA") == [replies[2], replies[0]]
    assert found(budi, q="50%") == [replies[0]]
    assert found(budi) == found(budi, saved="true") == found(budi, q="") == replies[::-1]
    assert found(siti) == []
    assert found(budi, mine="true") == [other]
    assert found(budi, mine="true", saved="true") == []
    beyond = budi.get("/forum/replies?page=9&per_page=2")
    assert (beyond.json, beyond.headers["X-Total-Count"]) == ([], "4")


# --- cost -----------------------------------------------------------------------------------------------------------


def test_the_list_needs_one_statement_with_and_without_filters(client, siti, statements):
    for _ in range(3):
        write_thread(siti)
    for query in ("", "?per_page=2", "?per_page=2&page=2", f"?category_id={category_id()}", "?q=menu", "?q=me"):
        for reader, limit in ((client, 1), (siti, 2)):
            with statements.at_most(limit):
                reader.get(f"/forum/threads{query}")
    for path in ("threads?saved=true", "threads?mine=true", "replies", "replies?mine=true", "replies?q=gula"):
        with statements.at_most(2):
            siti.get(f"/forum/{path}")
