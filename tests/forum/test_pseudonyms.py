"""Pseudonyms: the name, id and picture that posts and notices show.

The walk of one marked person (`tests/privacy`) looks at every response, message and log line.
"""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.forum.posts import category_id, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_admin, make_superadmin, make_user
from tests.notifications.deliveries import words_of

#: Part of the test person's username, name and e-mail. A response that contains this text reveals the person.
MARKER = "Qwertyana"


@pytest.fixture
def marked(client):
    return make_user(
        username=f"{MARKER}.user", nama_ktp=f"{MARKER} Binti Rahasia", nama_samaran="Melati",
        email=f"{MARKER}@example.com", nomor_hp="081299990000", image="0" * 32 + ".webp",
    )  # fmt: skip


def hidden(text, user):
    """Return whether `text` contains none of the values that identify `user`."""
    return not any(sign in text for sign in (MARKER, "299990000", "0" * 32, f'"author":{{"id":{user.id},'))


def test_a_post_keeps_its_pseudonym_when_its_owner_edits_it(client, marked):
    writer = client.as_(marked)
    thread = write_thread(writer, use_pseudonym=True)
    reply = write_reply(writer, thread["id"], use_pseudonym=True)
    edited = [
        writer.put(f"/forum/{path}", {"content": "baru"}).json
        for path in (f"threads/{thread['id']}", f"replies/{reply['id']}")
    ]
    for record in (thread, reply, *edited):
        assert record["author"] == {"id": None, "name": "Melati", "image": None}
        assert (record["is_owner"], record["use_pseudonym"]) == (True, True)
    assert [row["id"] for row in writer.get("/forum/threads?mine=1").json] == [thread["id"]]


def test_a_switch_to_a_pseudonym_hides_the_name_in_posts_and_pending_notices(client, marked):
    writer, other = client.as_(marked), client.as_(make_user())
    mine = write_thread(writer)
    theirs = write_thread(other)
    reply = write_reply(writer, theirs["id"])
    assert MARKER in str(read_thread(client, theirs["id"]))
    assert writer.put(f"/forum/threads/{mine['id']}", {"use_pseudonym": True}).status_code == 200
    assert writer.put(f"/forum/replies/{reply['id']}", {"use_pseudonym": True}).status_code == 200
    for reader in (client, writer, other, *map(client.as_, (make_user("pendamping"), make_admin(), make_superadmin()))):
        for path in ("threads", f"threads/{mine['id']}", f"threads/{theirs['id']}"):
            assert hidden(reader.get(f"/forum/{path}").get_data(as_text=True), marked)
    db.session.expire_all()
    (delivery,) = db.session.scalars(sa.select(Delivery)).all()
    assert delivery.state == "pending"
    assert words_of(delivery)["text"].startswith("Melati membalas")


@pytest.mark.parametrize(("changed", "shown"), [("Kenanga", "Kenanga"), (None, "Anonim")])
def test_existing_threads_show_a_changed_pseudonym(client, marked, changed, shown):
    thread = write_thread(client.as_(marked), use_pseudonym=True)
    marked.nama_samaran = changed
    assert read_thread(client, thread["id"])["author"] == {"id": None, "name": shown, "image": None}


def test_use_pseudonym_needs_a_pseudonym_in_the_profile(client):
    writer = client.as_(make_user(nama_samaran=None))
    sent = {"category_id": category_id(), "title": "T", "content": "C", "use_pseudonym": True}
    assert_error(writer.post("/forum/threads", sent), 400, "validation_error", "use_pseudonym")
    thread = write_thread(writer)
    assert_error(writer.put(f"/forum/threads/{thread['id']}", {"use_pseudonym": True}), 400, field="use_pseudonym")
    path = f"/forum/threads/{thread['id']}/reply"
    assert_error(writer.post(path, {"content": "C", "use_pseudonym": True}), 400, field="use_pseudonym")
    assert read_thread(client, thread["id"])["author"]["id"] is not None


def test_a_thread_without_a_pseudonym_shows_name_and_picture_of_the_author(client, marked):
    thread = write_thread(client.as_(marked))
    address = "/media/" + "0" * 32 + ".webp"
    assert thread["author"] == {"id": marked.id, "name": f"{MARKER} Binti Rahasia", "image": address}
