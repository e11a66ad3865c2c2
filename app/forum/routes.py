"""The forum: categories, threads and nested replies. Reads are public; a token adds what is the caller's."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.core.database.session import autocommit
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Listing
from app.core.web.rate_limits import limit
from app.core.web.request import raw_json
from app.forum import schemas
from app.forum.service import reads, replies, threads, toggles
from app.identity.access import authenticated, caller, caller_id, optional

bp = Blueprint("forum", __name__, url_prefix="/forum", description="Threads, nested replies, likes and saves")


def by_caller() -> str:
    return f"user:{caller.id}"


@bp.get("/categories")
@optional
@bp.response(200, schemas.CategoryListSchema(many=True))
def list_categories() -> Response:
    """The forum's categories."""
    with autocommit() as connection:
        return raw_json(reads.categories(connection))


@bp.get("/threads")
@optional
@bp.arguments(schemas.ThreadQuerySchema, location="query")
@bp.plain_response(200, schemas.ThreadRowSchema(many=True))
@bp.alt_response(401, "UNAUTHORIZED")
def list_threads(query: schemas.ThreadQuery) -> Listing[reads.Record]:
    """Threads, newest first."""
    return reads.list_threads(query, caller_id())


@bp.get("/threads/<int:thread_id>")
@optional
@bp.response(200, schemas.ThreadSchema)
def get_thread(thread_id: int) -> Response:
    """A thread with the tree of its replies."""
    with autocommit() as connection:
        return raw_json(reads.thread(connection, thread_id, caller_id()))


@bp.post("/threads")
@authenticated
@limit("10 per minute; 60 per day", key=by_caller)
@bp.arguments(schemas.ThreadForm, location="multipart")
@bp.response(201, schemas.ThreadSchema)
def create_thread(data: dict[str, Any]) -> Response:
    """Start a thread; those whom its category concerns are told."""
    return raw_json(threads.create(data, caller), 201)


@bp.put("/threads/<int:thread_id>")
@authenticated
@bp.arguments(schemas.ThreadEditForm, location="multipart")
@bp.response(200, schemas.ThreadSchema)
@bp.alt_response(403, "FORBIDDEN")
def edit_thread(data: dict[str, Any], thread_id: int) -> Response:
    """Change an own thread; what is not sent stays."""
    return raw_json(threads.update(thread_id, data, caller))


@bp.delete("/threads/<int:thread_id>")
@authenticated
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
def delete_thread(thread_id: int) -> dict[str, str]:
    """Delete an own thread with all its replies; administrators may delete any."""
    threads.delete(thread_id, caller)
    return {"message": "Utas dihapus."}


@bp.post("/threads/<int:thread_id>/reply")
@authenticated
@limit("30 per minute", key=by_caller)
@bp.arguments(schemas.ReplyForm, location="multipart")
@bp.response(201, schemas.ReplySchema)
def create_reply(data: dict[str, Any], thread_id: int) -> Response:
    """Reply to a thread, or with `parent_id` to one of its replies; the thread's author is told."""
    return raw_json(replies.create(thread_id, data, caller), 201)


@bp.post("/threads/<int:thread_id>/like")
@authenticated
@bp.response(200, schemas.LikedSchema)
def like_thread(thread_id: int) -> dict[str, bool]:
    """Like a thread, or take the like back."""
    with autocommit() as connection:
        return {"is_liked": toggles.like_thread(connection, thread_id, caller.id)}


@bp.post("/threads/<int:thread_id>/save")
@authenticated
@bp.response(200, schemas.SavedSchema)
def save_thread(thread_id: int) -> dict[str, bool]:
    """Save a thread, or take that back."""
    with autocommit() as connection:
        return {"is_saved": toggles.save_thread(connection, thread_id, caller.id)}


@bp.put("/replies/<int:reply_id>")
@authenticated
@bp.arguments(schemas.ReplyEditForm, location="multipart")
@bp.response(200, schemas.ReplySchema)
@bp.alt_response(403, "FORBIDDEN")
def edit_reply(data: dict[str, Any], reply_id: int) -> Response:
    """Change an own reply; what is not sent stays."""
    return raw_json(replies.update(reply_id, data, caller))


@bp.delete("/replies/<int:reply_id>")
@authenticated
@bp.response(200, MessageSchema)
@bp.alt_response(403, "FORBIDDEN")
def delete_reply(reply_id: int) -> dict[str, str]:
    """Delete an own reply; replies below it stay under a stub. Administrators may delete any."""
    replies.delete(reply_id, caller)
    return {"message": "Balasan dihapus."}


@bp.post("/replies/<int:reply_id>/like")
@authenticated
@bp.response(200, schemas.LikedSchema)
def like_reply(reply_id: int) -> dict[str, bool]:
    """Like a reply, or take the like back."""
    with autocommit() as connection:
        return {"is_liked": toggles.like_reply(connection, reply_id, caller.id)}


@bp.post("/replies/<int:reply_id>/save")
@authenticated
@bp.response(200, schemas.SavedSchema)
def save_reply(reply_id: int) -> dict[str, bool]:
    """Save a reply, or take that back."""
    with autocommit() as connection:
        return {"is_saved": toggles.save_reply(connection, reply_id, caller.id)}
