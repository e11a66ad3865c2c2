"""Blocks of authors. Name and pseudonym of an author are blocked separately. No block reveals the other identity."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Block
from app.forum.service.reads import BLOCKED
from app.identity.models import User
from app.notifications.models import Delivery
from tests.forum.posts import moderate, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of

NAME, ALIAS = "Siti Aminah", "Melati"


def ids(reader, query=""):
    return {row["id"] for row in reader.get(f"/forum/threads{query}").json}


def block(who, path):
    response = who.post(f"/forum/{path}/blokir")
    assert (response.status_code, response.json) == (200, {"is_blocked": True})


@pytest.mark.parametrize("use_pseudonym", [True, False])
def test_a_block_hides_posts_of_one_identity_but_not_of_the_other(client, siti, budi, use_pseudonym):
    named, under_alias = write_thread(siti)["id"], write_thread(siti, use_pseudonym=True)["id"]
    blocked, other = (under_alias, named) if use_pseudonym else (named, under_alias)
    later = write_thread(siti, use_pseudonym=use_pseudonym)["id"]
    theirs = write_thread(budi)["id"]
    for open_ in (True, False):
        write_reply(siti, theirs, use_pseudonym=open_, content=f"Halo {open_}")
    before = client.get("/forum/threads").text
    block(budi, f"threads/{blocked}")
    for query in ("", "?per_page=20", "?q=Menu"):
        assert ids(budi, query) == {other, theirs}
    for path in (blocked, later):
        stub = read_thread(budi, path)
        assert (stub["title"], stub["content"], stub["is_blocked"]) == (BLOCKED, BLOCKED, True)
        assert stub["author"] == {"id": None, "name": BLOCKED, "image": None}
    assert read_thread(budi, other)["title"] == "Menu harian"
    contents = {reply["content"]: reply["author"]["name"] for reply in read_thread(budi, theirs)["replies"]}
    assert contents == {BLOCKED: BLOCKED, f"Halo {not use_pseudonym}": NAME if use_pseudonym else ALIAS}
    # Other people, and the author, still see all posts.
    assert client.get("/forum/threads").text == before
    assert ids(siti) == {named, under_alias, later, theirs}
    (row,) = budi.get("/forum/blokir").json
    budi.delete(f"/forum/blokir/{row['id']}")
    assert ids(budi) == {named, under_alias, later, theirs}


def test_responses_to_a_block_do_not_depend_on_existing_blocks(siti, budi):
    """If the responses depended on earlier blocks, a reader could find out that two posts have the same author."""
    named, under_alias = write_thread(siti)["id"], write_thread(siti, use_pseudonym=True)["id"]
    reply_id = write_reply(siti, named, use_pseudonym=True)["id"]

    paths = [f"threads/{named}", f"threads/{under_alias}", f"replies/{reply_id}"] * 2
    responses = [budi.post(f"/forum/{path}/blokir") for path in paths]
    assert len({(response.status_code, response.text) for response in responses}) == 1
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Block)) == 2


def test_a_block_of_a_name_leaves_counts_and_pseudonymous_posts_unchanged(siti, client):
    """A reader who has blocked a name cannot see which of two pseudonyms belongs to this name."""
    other = client.as_(make_user(nama_ktp="Rina", nama_samaran="Kenanga"))
    by_alias = {write_thread(writer, use_pseudonym=True)["id"] for writer in (siti, other)}
    named = write_thread(siti)["id"]
    replies = [write_reply(writer, named, use_pseudonym=True)["id"] for writer in (siti, other)]
    reader = client.as_(make_user())

    def seen():
        listing = reader.get("/forum/threads?per_page=20")
        rows = [(row["author"]["name"], row["replies_count"]) for row in listing.json if row["id"] in by_alias]
        shown = {reply["id"]: reply["content"] for reply in read_thread(reader, named)["replies"]}
        return [listing.headers["X-Total-Count"], rows, [shown[reply_id] for reply_id in replies]]

    before = seen()
    block(reader, f"threads/{named}")
    assert seen() == before


def test_saved_lists_exclude_threads_and_replies_of_a_blocked_author(siti, budi):
    thread_id = write_thread(siti)["id"]
    reply_id = write_reply(siti, thread_id)["id"]
    own = write_reply(budi, thread_id)["id"]
    for path in (f"threads/{thread_id}", f"replies/{reply_id}"):
        budi.post(f"/forum/{path}/save")
    block(budi, f"replies/{reply_id}")
    assert budi.get("/forum/threads?saved=true").json == []
    assert budi.get("/forum/replies?saved=true").json == []
    (row,) = budi.get("/forum/replies?mine=true").json
    assert (row["id"], row["thread"]["title"]) == (own, BLOCKED)


def test_a_block_does_not_hide_threads_of_deleted_accounts(client, siti, budi):
    gone = make_user()
    thread_id = write_thread(client.as_(gone))["id"]
    db.session.execute(sa.delete(User).where(User.id == gone.id))
    db.session.commit()
    block(budi, f"threads/{write_thread(siti)['id']}")
    assert ids(budi) == {thread_id}
    assert_error(budi.post(f"/forum/threads/{thread_id}/blokir"), 409, "author_gone")


def announced_to(user, thread_id):
    """Return the words of a thread's broadcast to this person. There are none if it would not be sent now."""
    row = Delivery(id=0, kind="broadcast", channel="messaging", user_id=user.id)
    row.payload = {"about": "forum_thread", "about_id": thread_id}
    return words_of(row)


@pytest.mark.parametrize("use_pseudonym", [True, False])
def test_a_broadcast_is_not_sent_to_a_reader_who_blocked_its_identity(client, siti, use_pseudonym):
    reader = make_user()
    blocked, other = (write_thread(siti, use_pseudonym=each)["id"] for each in (use_pseudonym, not use_pseudonym))
    block(client.as_(reader), f"threads/{blocked}")
    assert not announced_to(reader, blocked)
    assert announced_to(reader, other)
    assert announced_to(make_user(), blocked)


def test_a_broadcast_of_a_hidden_thread_is_not_sent(siti, admin):
    thread_id, reader = write_thread(siti)["id"], make_user()
    for decision, is_sent in (("hide", False), ("keep", True)):
        moderate(admin, decision, thread_id=thread_id)
        assert bool(announced_to(reader, thread_id)) is is_sent
