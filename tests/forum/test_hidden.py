"""Hidden posts: only their author can read them. No list, search, notice or export shows them to other people."""

import sqlalchemy as sa

from app.core.database.session import db
from app.core.media import pictures
from app.forum.models import Post
from app.forum.service.reads import HIDDEN
from app.notifications.models import Broadcast
from dev.counters import wrong_counters
from tests.forum.posts import add_picture, cases, category_id, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error

MARK = "Penawarajaib"
LISTS = ("", "?per_page=20", "?page=1&per_page=20", "?category_id=2", f"?q={MARK}", "?q=di")
PARTS = ("", "?after=1", "?replies=false")
CLEAN = {"forum_categories": 0, "posts": 0}


def marked_thread(writer, **data):
    return int(write_thread(writer, title=f"{MARK} asli", content=f"Beli {MARK} di sini", **data)["id"])


def everything(reader):
    """Return the text of all lists, searches and threads that a reader gets."""
    ids = [row["id"] for row in reader.get("/forum/threads").json]
    paths = ["/forum/threads" + query for query in LISTS]
    paths += [f"/forum/threads/{thread_id}{query}" for thread_id in ids for query in PARTS]
    if reader.token:
        paths += ["/forum/threads" + query for query in ("?saved=true", "?mine=true", f"?saved=true&q={MARK}")]
        paths += ["/forum/replies" + query for query in ("", "?mine=true", "?saved=true", f"?q={MARK}")]
    return "\n".join(reader.get(path).text for path in paths)


def test_a_hidden_thread_is_only_in_the_list_and_search_of_its_author(client, siti, budi, admin):
    shown, hidden = write_thread(siti)["id"], marked_thread(siti)
    reply = write_reply(budi, hidden)
    for action in (f"threads/{hidden}/save", f"replies/{reply['id']}/save"):
        budi.post(f"/forum/{action}")
    assert MARK in everything(client)
    moderate(admin, "hide", thread_id=hidden)
    for reader in (client, siti, budi, admin):
        assert [row["id"] for row in reader.get("/forum/threads").json] == [shown]
        assert reader.get("/forum/threads").headers["X-Total-Count"] == "1"
        assert reader.get(f"/forum/threads?q={MARK}").headers["X-Total-Count"] == "0"
        if reader is not siti:
            assert MARK not in everything(reader)
    for query, total in (("?mine=true", "2"), (f"?mine=true&q={MARK}", "1"), ("?mine=true&per_page=1", "2")):
        own = siti.get(f"/forum/threads{query}")
        assert (own.json[0]["id"], own.headers["X-Total-Count"]) == (hidden, total)
        assert (own.json[0]["is_hidden"], own.json[0]["hidden_reason"]) == (True, "Mengiklankan obat.")
    assert [row["id"] for row in siti.get("/forum/threads?mine=true").json] == [hidden, shown]
    assert budi.get("/forum/threads?saved=true").headers["X-Total-Count"] == "0"
    assert [row["thread"]["title"] for row in budi.get("/forum/replies?mine=true").json] == [HIDDEN]


def test_readers_see_a_stub_of_a_hidden_thread_and_the_author_the_reason(client, siti, budi, admin):
    thread_id = marked_thread(siti)
    write_reply(budi, thread_id, content="Sayur asem.")
    written = read_thread(siti, thread_id)
    moderate(admin, "hide", "Iklan obat.", thread_id=thread_id)
    for reader in (client, budi, admin):
        stub = read_thread(reader, thread_id)
        assert (stub["title"], stub["content"], stub["image"], stub["is_hidden"]) == (HIDDEN, HIDDEN, None, True)
        assert "hidden_reason" not in stub
        assert "Iklan obat." not in str(stub)
        assert [reply["content"] for reply in stub["replies"]] == ["Sayur asem."]
    assert read_thread(siti, thread_id) == {**written, "is_hidden": True, "hidden_reason": "Iklan obat."}
    moderate(admin, "keep", thread_id=thread_id)
    assert read_thread(siti, thread_id) == written


def test_a_hidden_reply_is_a_stub_in_its_thread_and_in_no_list_of_others(client, siti, budi, admin):
    thread_id = write_thread(siti)["id"]
    reply = write_reply(budi, thread_id, content=f"Pakai {MARK}")
    below = write_reply(siti, thread_id, parent_id=reply["id"])
    siti.post(f"/forum/replies/{reply['id']}/save")
    moderate(admin, "hide", reply_id=reply["id"])
    for reader in (client, siti, admin):
        thread = read_thread(reader, thread_id)
        (stub,) = thread["replies"]
        assert (stub["content"], stub["is_hidden"], thread["replies_count"]) == (HIDDEN, True, 1)
        assert [node["id"] for node in stub["replies"]] == [below["id"]]
        assert MARK not in everything(reader)
    (own,) = read_thread(budi, thread_id)["replies"]
    assert (own["content"], own["hidden_reason"]) == (f"Pakai {MARK}", "Mengiklankan obat.")
    (row,) = budi.get("/forum/replies?mine=true").json
    assert (row["content"], row["is_hidden"], row["hidden_reason"]) == (
        f"Pakai {MARK}", True, "Mengiklankan obat."
    )  # fmt: skip
    assert siti.get("/forum/replies?saved=true").json == []
    moderate(admin, "keep", reply_id=reply["id"])
    thread = read_thread(client, thread_id)
    assert (thread["replies_count"], thread["replies"][0]["content"]) == (2, f"Pakai {MARK}")


def test_a_reply_to_a_hidden_thread_or_reply_is_refused(siti, budi, admin):
    hidden, thread_id = marked_thread(siti), write_thread(siti)["id"]
    reply_id = write_reply(budi, thread_id)["id"]
    moderate(admin, "hide", thread_id=hidden)
    moderate(admin, "hide", reply_id=reply_id)
    for writer in (siti, budi):
        assert_error(writer.post(f"/forum/threads/{hidden}/reply", {"content": "x"}), 409, "post_hidden")
        sent = {"content": "x", "parent_id": reply_id}
        assert_error(writer.post(f"/forum/threads/{thread_id}/reply", sent), 409, "post_hidden")
    assert read_thread(siti, thread_id)["replies_count"] == 0


def test_hiding_a_thread_holds_its_broadcast_until_a_keep(siti, admin):
    thread_id = marked_thread(siti)
    for decision, state in (("hide", "held"), ("keep", "open")) * 2:
        moderate(admin, decision, thread_id=thread_id)
        assert db.session.scalars(sa.select(Broadcast.state)).all() == [state]


def test_a_hidden_picture_gets_a_new_address_that_the_author_and_moderators_see(client, siti, admin, noun):
    thread_id = write_thread(siti)["id"]
    post = {"thread_id": thread_id} if noun == "threads" else {"reply_id": write_reply(siti, thread_id)["id"]}
    (post_id,) = post.values()
    old = add_picture(siti, f"{noun}/{post_id}")
    data = client.get(old).data
    moderate(admin, "hide", **post)
    new = pictures.url(db.session.scalars(sa.select(Post.image).where(Post.id == post_id)).one())
    assert (client.get(old).status_code, client.get(new).data) == (404, data)
    assert [case["image"] for case in cases(admin)] == [new]
    assert new in siti.get(f"/forum/threads/{thread_id}").text
    for reader in (client, admin):
        assert "/media/" not in reader.get(f"/forum/threads/{thread_id}").text
    names = db.session.scalars(sa.text("SELECT name FROM own_pictures WHERE user_id = :id"), {"id": siti.id})
    assert names.all() == [new.removeprefix("/media/")]
    moderate(admin, "keep", **post)
    assert new in client.get(f"/forum/threads/{thread_id}").text  # a shown picture keeps its address


def test_the_overview_excludes_a_hidden_thread(siti, admin):
    write_thread(siti)
    moderate(admin, "hide", thread_id=marked_thread(siti))
    overview = admin.get("/admins/overview").json
    assert overview["totals"]["threads"] == 1
    assert {row["name"]: row["threads"] for row in overview["forum_categories"]}["Medis"] == 1


def test_counters_exclude_hidden_posts_also_after_a_move_or_a_deletion(client, siti, budi, admin):
    thread_id, gone = marked_thread(siti), marked_thread(siti)
    replies = [write_reply(budi, thread_id)["id"] for _ in range(3)]
    budi.post(f"/forum/threads/{thread_id}/like")
    for _ in range(2):  # hiding a post twice must not change the counters again
        moderate(admin, "hide", thread_id=thread_id)
        moderate(admin, "hide", thread_id=gone)
        moderate(admin, "hide", reply_id=replies[0])
        moderate(admin, "hide", reply_id=replies[1])
    assert wrong_counters() == CLEAN
    assert siti.put(f"/forum/threads/{thread_id}", {"category_id": category_id("Umum")}).status_code == 200
    assert budi.delete(f"/forum/replies/{replies[0]}").status_code == 200
    assert siti.delete(f"/forum/threads/{gone}").status_code == 200
    assert wrong_counters() == CLEAN
    counts = {row["name"]: row["threads_count"] for row in client.get("/forum/categories").json}
    assert (counts["Umum"], counts["Medis"]) == (0, 0)
    moderate(admin, "keep", thread_id=thread_id)
    moderate(admin, "keep", reply_id=replies[1])
    assert wrong_counters() == CLEAN
    thread = read_thread(client, thread_id)
    assert (thread["replies_count"], thread["likes_count"]) == (2, 1)
