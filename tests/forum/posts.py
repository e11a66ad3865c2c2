"""Helpers that write, read, report and moderate posts through the routes."""

import io

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Case, ForumCategory
from tests.core.media.samples import plain
from tests.helpers.factories import make_user


def category_id(name="Medis"):
    return db.session.scalars(sa.select(ForumCategory.id).where(ForumCategory.name == name)).one()


def write_thread(writer, **data):
    sent = {"category_id": category_id(), "title": "Menu harian", "content": "Apa yang boleh dimakan?", **data}
    return writer.post("/forum/threads", sent).ok(201)


def write_reply(writer, thread_id, **data):
    return writer.post(f"/forum/threads/{thread_id}/reply", {"content": "Kurangi gula.", **data}).ok(201)


def write_post(noun, writer, **data):
    """Create a thread, or with `replies` a thread and its reply. Return the ids of the thread and of the post."""
    thread_id = write_thread(writer, **data)["id"]
    return thread_id, thread_id if noun == "threads" else write_reply(writer, thread_id, **data)["id"]


def read_thread(reader, thread_id):
    return reader.get(f"/forum/threads/{thread_id}").ok()


def moderate(moderator, decision, reason="Mengiklankan obat.", **post):
    """Decide the case of a post. If the post has no case, somebody reports the post first."""
    ((kind, post_id),) = post.items()
    case_id = case_of(post_id)
    if case_id is None:
        noun = "threads" if kind == "thread_id" else "replies"
        report(moderator.as_(make_user()), f"{noun}/{post_id}", "other")
        case_id = case_of(post_id)
    return moderator.put(f"/admins/moderasi/{case_id}", {"decision": decision, "reason": reason}).ok()


def case_of(post_id):
    return db.session.scalar(sa.select(Case.id).where(Case.post_id == post_id))


def cases(moderator, query=""):
    return moderator.get(f"/admins/moderasi{query}").ok()


def report(reporter, path, reason="spam", **data):
    response = reporter.post(f"/forum/{path}/lapor", {"reason": reason, **data})
    assert response.status_code in (200, 201), response.json
    return response.json


def add_picture(writer, path):
    """Add a picture to a post. Return the picture's path."""
    return writer.put(f"/forum/{path}", data={"image": (io.BytesIO(plain()), "a.jpg")}).ok()["image"]
