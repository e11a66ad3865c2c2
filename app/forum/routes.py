"""Routes of the forum: categories, threads and nested replies.

Everybody can read without a token. With a token, a response also shows what the caller has liked, saved or written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.dispatch import View, in_steps
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema, TruncatedRecord
from app.core.web.rate_limits import limit
from app.forum import moderation_schemas, schemas
from app.forum.models import Report
from app.forum.service import blocks, marks, moderation, posts, reads
from app.forum.service.reads import Record
from app.identity.access import authenticated, by_caller, caller, caller_id, optional
from app.identity.upload_limits import limit_uploads

bp = Blueprint("forum", __name__, url_prefix="/forum", description="Threads, nested replies, likes and saves")


@bp.get("/categories")
@optional
@cached(1)
@bp.response(200, schemas.CategoryList(many=True))
def list_categories() -> list[Record]:
    """List the forum's categories."""
    return reads.list_categories()


@bp.get("/threads")
@optional
@cached(1)
@bp.arguments(schemas.ThreadQuerySchema, location="query")
@bp.plain_response(200, schemas.ThreadRow(many=True))
def list_threads(query: schemas.PostQuery) -> Listing[Record]:
    """List threads, newest first."""
    return reads.list_posts(query, caller_id(), threads=True)


@bp.get("/threads/<int:thread_id>")
@optional
@cached(1)
@bp.arguments(schemas.RepliesQuerySchema, location="query")
@bp.plain_response(200, schemas.Thread)
def get_thread(query: schemas.RepliesQuery, thread_id: int) -> TruncatedRecord[Record]:
    """Return a thread with the tree of its first 500 replies."""
    return reads.get_thread(thread_id, query, caller_id())


@bp.post("/threads")
@authenticated
@limit("10 per minute; 60 per day", key=by_caller)
@limit_uploads
@bp.arguments(schemas.ThreadCreate, location="multipart")
@bp.plain_response(201, schemas.Thread)
def create_thread(data: Loaded) -> Record:
    """Create a thread, and notify the people whose preferences include its category."""
    return posts.create_thread(data, caller)


@bp.post("/threads/<int:thread_id>/reply")
@authenticated
@limit("30 per minute; 300 per day", key=by_caller)
@limit_uploads
@bp.arguments(schemas.ReplyCreate, location="multipart")
@bp.plain_response(201, schemas.Reply)
def create_reply(data: Loaded, thread_id: int) -> Record:
    """Reply to a thread, or with `parent_id` to one of its replies. The thread's author gets a notification."""
    return posts.create_reply(thread_id, data, caller)


@bp.get("/replies")
@authenticated
@bp.arguments(schemas.ReplyQuerySchema, location="query")
@bp.plain_response(200, schemas.ReplyRow(many=True))
def list_replies(query: schemas.PostQuery) -> Listing[Record]:
    """List the replies that the caller has saved or, with `mine`, written, newest first."""
    return reads.list_posts(query, caller.id, threads=False)


@bp.get("/blokir")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, moderation_schemas.Block(many=True))
def list_blocks(page: Page) -> Listing[Any]:
    """List the caller's blocks, newest first."""
    return blocks.list_own(page, caller)


@bp.delete("/blokir/<int:block_id>")
@authenticated
@bp.response(204)
def delete_block(block_id: int) -> None:
    """Delete a block. This works even if the blocked post is deleted already."""
    blocks.delete_own(block_id, caller)


# --- routes that threads and replies share --------------------------------------------------------------------------


def _of_post(name: str, summary: str) -> Callable[[View], View]:
    """Return a decorator for a view that exists once for threads and once for replies.

    The decorator sets the name and the OpenAPI summary of the view. The decorated view gets `thread_id` or `reply_id`
    from the path as its last positional argument.
    """

    def decorator(view: View) -> View:
        def named(*data: object, **ids: int) -> Any:
            return view(*data, *ids.values())

        named.__name__, named.__doc__ = name, summary
        return named

    return decorator


def _for_both(add_routes: Callable[[bool, str, str], None]) -> None:
    add_routes(True, "thread", "/threads/<int:thread_id>")
    add_routes(False, "reply", "/replies/<int:reply_id>")


@_for_both
def _add_post_routes(is_thread: bool, noun: str, path: str) -> None:
    @bp.put(path)
    @authenticated
    @limit_uploads
    @bp.arguments(schemas.ThreadUpdate if is_thread else schemas.ReplyUpdate, location="multipart")
    @bp.plain_response(200, schemas.Thread if is_thread else schemas.Reply)
    @_of_post(f"update_{noun}", f"Change an own {noun}. Missing fields stay unchanged.")
    def update(data: Loaded, post_id: int) -> Record:
        return posts.update(post_id, data, caller, is_thread=is_thread)

    @bp.delete(path)
    @authenticated
    @bp.response(200, MessageSchema)
    @_of_post(
        f"delete_{noun}",
        "Delete an own thread with all its replies."
        if is_thread
        else "Delete an own reply. A reply with replies below it stays as a stub without text and author.",
    )
    def delete(post_id: int) -> dict[str, str]:
        posts.delete(post_id, caller, is_thread=is_thread)
        return {"message": "Utas dihapus." if is_thread else "Balasan dihapus."}

    @bp.post(f"{path}/like")
    @authenticated
    @in_steps
    @bp.response(200, schemas.Liked)
    @_of_post(f"like_{noun}", f"Like a {noun}, or remove the like.")
    def like(post_id: int) -> dict[str, bool]:
        return {"is_liked": marks.toggle("is_liked", post_id, caller.id, is_thread=is_thread)}

    @bp.post(f"{path}/save")
    @authenticated
    @in_steps
    @bp.response(200, schemas.Saved)
    @_of_post(f"save_{noun}", f"Save a {noun}, or remove it from the saved ones.")
    def save(post_id: int) -> dict[str, bool]:
        return {"is_saved": marks.toggle("is_saved", post_id, caller.id, is_thread=is_thread)}

    @bp.post(f"{path}/lapor")
    @authenticated
    @limit("20 per day", key=by_caller, counter="lapor")
    @bp.arguments(moderation_schemas.ReportCreate)
    @bp.response(201, moderation_schemas.ForumReport)
    @bp.alt_response(
        200,
        schema=moderation_schemas.ForumReport,
        description="The caller has already reported this post; the response has the earlier report",
        success=True,
    )
    @_of_post(f"report_{noun}", f"Report a {noun} to the moderators.")
    def report(data: Loaded, post_id: int) -> tuple[Report, int]:
        reported, is_new = moderation.report(post_id, data, caller, is_thread=is_thread)
        return reported, 201 if is_new else 200

    @bp.post(f"{path}/banding")
    @authenticated
    @limit("20 per day", key=by_caller, counter="banding")
    @bp.arguments(moderation_schemas.AppealCreate)
    @bp.response(201, moderation_schemas.Appeal)
    @bp.alt_response(
        200, schema=moderation_schemas.Appeal, description="The appeal replaces an undecided one", success=True
    )
    @_of_post(f"appeal_{noun}", f"Appeal to the moderators about an own hidden {noun}.")
    def appeal(data: dict[str, str], post_id: int) -> tuple[dict[str, str], int]:
        is_first = moderation.appeal(post_id, data["note"], caller, is_thread=is_thread)
        return {"appeal": data["note"]}, 201 if is_first else 200

    @bp.post(f"{path}/blokir")
    @authenticated
    @bp.response(200, moderation_schemas.Blocked)
    @_of_post(
        f"block_{noun}_author",
        f"Block the name or pseudonym that this {noun} shows. The caller then gets stubs of its posts.",
    )
    def block(post_id: int) -> dict[str, bool]:
        blocks.block_author(post_id, caller, is_thread=is_thread)
        return {"is_blocked": True}
