"""Pseudonyms: no response, message, media name, log or document reveals the author."""

import logging
from io import BytesIO

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications.models import Delivery
from tests.core.media.samples import with_metadata
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


def picture(name=f"{MARKER}.jpg"):
    return BytesIO(with_metadata("JPEG")), name


def hidden(text, user):
    """Return whether `text` contains none of the values that identify `user`."""
    return not any(sign in text for sign in (MARKER, "299990000", "0" * 32, f'"author":{{"id":{user.id},'))


def rename(user, pseudonym):
    db.session.execute(sa.update(User).where(User.id == user.id).values(nama_samaran=pseudonym))
    db.session.commit()


def test_no_response_message_or_log_reveals_a_pseudonymous_author(app, client, marked, caplog):
    caplog.set_level(logging.DEBUG)
    writer, other = client.as_(marked), client.as_(make_user())
    readers = [
        client,
        other,
        client.as_(make_user("pendamping")),
        client.as_(make_admin()),
        client.as_(make_superadmin()),
    ]
    responses = []

    def call(who, method, path, **options):
        response = who.open(method, path, **options)
        assert response.status_code < 500
        responses.append(response.data.decode("latin-1") + str(response.headers))
        return response.json

    form = {"category_id": str(category_id()), "title": "T", "content": "C", "use_pseudonym": "1", "image": picture()}
    thread = call(writer, "POST", "/forum/threads", data=form, content_type="multipart/form-data")
    others = write_thread(other)
    form = {"content": "C", "use_pseudonym": "true", "image": picture()}
    path = f"/forum/threads/{others['id']}/reply"
    reply = call(writer, "POST", path, data=form, content_type="multipart/form-data")
    write_reply(other, others["id"], parent_id=reply["id"])
    call(writer, "PUT", f"/forum/threads/{thread['id']}", json={"title": "T2"})
    call(writer, "PUT", f"/forum/replies/{reply['id']}", json={"content": "C2"})
    for action in ("like", "save"):
        call(writer, "POST", f"/forum/threads/{thread['id']}/{action}")
        call(writer, "POST", f"/forum/replies/{reply['id']}/{action}")
    for reader in [writer, *readers]:
        for path in (
            "categories",
            "threads",
            "threads?per_page=5",
            f"threads/{thread['id']}",
            f"threads/{others['id']}",
        ):
            call(reader, "GET", f"/forum/{path}")
        call(reader, "GET", thread["image"])
    for reader in readers[1:]:
        call(reader, "GET", "/forum/threads?saved=true")
        call(reader, "POST", f"/forum/threads/{thread['id']}/like")
        call(reader, "PUT", f"/forum/threads/{thread['id']}", json={"title": "x"})
        call(reader, "PUT", f"/forum/replies/{reply['id']}", json={"content": "x"})
        call(reader, "POST", f"/forum/threads/{thread['id']}/reply", json={"content": "y"})
    call(client, "GET", "/api/openapi.json")
    call(readers[3], "DELETE", f"/forum/replies/{reply['id']}")
    call(readers[3], "DELETE", f"/forum/threads/{thread['id']}")

    for text in responses:
        assert hidden(text, marked), text
    for row in db.session.scalars(sa.select(Delivery)).all():
        assert hidden(str(row.payload), marked)
        assert hidden(str(words_of(row)), marked)
    records = [str(vars(record)) for record in caplog.records if not record.name.startswith("sqlalchemy")]
    assert len(records) > 50
    assert not [line for line in records if MARKER in line]


def test_an_author_sees_own_posts_as_owner_with_the_pseudonym(client, marked):
    writer = client.as_(marked)
    thread = write_thread(writer, use_pseudonym=True)
    reply = write_reply(writer, thread["id"], use_pseudonym=True)
    for record in (thread, reply):
        assert record["author"] == {"id": None, "name": "Melati", "image": None}
        assert record["is_owner"] is True
    assert [row["id"] for row in writer.get("/forum/threads?mine=1").json] == [thread["id"]]


def test_editing_keeps_the_pseudonym(client, marked):
    writer = client.as_(marked)
    thread = write_thread(writer, use_pseudonym=True)
    reply = write_reply(writer, thread["id"], use_pseudonym=True)
    writer.put(f"/forum/threads/{thread['id']}", {"content": "baru"})
    writer.put(f"/forum/replies/{reply['id']}", {"content": "baru"})
    read = read_thread(client, thread["id"])
    for record in (read, read["replies"][0]):
        assert (record["content"], record["author"]["name"], record["use_pseudonym"]) == ("baru", "Melati", True)


def test_a_switch_to_a_pseudonym_hides_the_name_in_posts_and_pending_notices(client, marked):
    writer, other = client.as_(marked), client.as_(make_user())
    mine = write_thread(writer)
    theirs = write_thread(other)
    reply = write_reply(writer, theirs["id"])
    assert MARKER in str(read_thread(client, theirs["id"]))
    assert writer.put(f"/forum/threads/{mine['id']}", {"use_pseudonym": True}).status_code == 200
    assert writer.put(f"/forum/replies/{reply['id']}", {"use_pseudonym": True}).status_code == 200
    for reader in (client, other):
        for path in ("threads", f"threads/{mine['id']}", f"threads/{theirs['id']}"):
            assert hidden(reader.get(f"/forum/{path}").get_data(as_text=True), marked)
    db.session.expire_all()
    (delivery,) = db.session.scalars(sa.select(Delivery)).all()
    assert delivery.state == "pending"
    assert words_of(delivery)["text"].startswith("Melati membalas")


@pytest.mark.parametrize(("changed", "shown"), [("Kenanga", "Kenanga"), (None, "Anonim")])
def test_existing_threads_show_a_changed_pseudonym(client, marked, changed, shown):
    thread = write_thread(client.as_(marked), use_pseudonym=True)
    rename(marked, changed)
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
