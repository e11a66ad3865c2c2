"""Reads of one thread: statements built and prepared once, whose rows become plain records without ORM and marshmallow.

Each function takes the connection, so that a writer can show what it has not committed yet.
`thread_list` has the list of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict

import orjson
import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import AnySelect
from app.core.errors import NotFound
from app.core.web.pagination import Listing, Partial
from app.forum.models import ForumCategory, ForumThread, ThreadMark
from app.forum.schemas import RepliesQuery
from app.forum.service.reads.posts import (
    CALLER_ID,
    THREAD_NOT_FOUND,
    Columns,
    Post,
    author_columns,
    caller_columns,
    conceal,
    concealing_columns,
    media_path,
)
from app.forum.service.reads.replies import FEW_REPLIES, Reply, Tree, read_all, read_first
from app.forum.service.reads.replies import read_page as read_reply_page
from app.identity.models import User


class CategoryName(TypedDict):
    id: int
    name: str


class ThreadRow(Post):
    """A thread in a list."""

    category_id: int
    category: CategoryName
    title: str
    replies_count: int


class Thread(ThreadRow):
    replies: list[Reply]


class CutThread(Thread):
    """A thread where replies are left out."""

    replies_truncated: bool


@dataclass(frozen=True)
class ThreadPage(Listing[Reply]):
    """A thread with one page of the replies to itself, each with all below it."""

    thread: Thread

    @property
    def body(self) -> Thread:
        return self.thread


def thread_columns(thread: type[ForumThread], *, signed_in: bool) -> Columns:
    return [
        thread.id, thread.category_id, ForumCategory.name, thread.title, thread.content, media_path(thread.image),
        thread.use_pseudonym, *author_columns(thread), thread.likes_count, thread.saves_count, thread.replies_count,
        *caller_columns(thread, ThreadMark, signed_in=signed_in),
        as_text(thread.created_at), as_text(thread.updated_at),
    ]  # fmt: skip


def thread_record(row: Sequence[Any]) -> ThreadRow:
    (
        id_, category_id, category, title, content, image, use_pseudonym, author_id, author, author_image,
        likes, saves, replies, is_liked, is_saved, is_owner, created_at, updated_at,
    ) = row  # fmt: skip
    return {
        "id": id_,
        "category_id": category_id,
        "category": {"id": category_id, "name": category},
        "title": title,
        "content": content,
        "image": image,
        "use_pseudonym": use_pseudonym,
        "author": {"id": author_id, "name": author, "image": author_image},
        "likes_count": likes,
        "saves_count": saves,
        "replies_count": replies,
        "is_liked": is_liked,
        "is_saved": is_saved,
        "is_owner": is_owner,
        "created_at": rfc3339(created_at),
        "updated_at": rfc3339(updated_at),
    }


def joined_threads(thread: type[ForumThread], source: sa.FromClause, *, signed_in: bool) -> sa.FromClause:
    """`source`, which holds `thread`, with its category, its author and the caller's mark."""
    source = source.outerjoin(ForumCategory, ForumCategory.id == thread.category_id)
    source = source.outerjoin(User, User.id == thread.user_id)
    if signed_in:
        own_mark = sa.and_(ThreadMark.thread_id == thread.id, ThreadMark.user_id == CALLER_ID)
        source = source.outerjoin(ThreadMark, own_mark)
    return source


def select_thread(*, signed_in: bool) -> AnySelect:
    source = joined_threads(ForumThread, sa.inspect(ForumThread).local_table, signed_in=signed_in)
    columns = [
        *thread_columns(ForumThread, signed_in=signed_in),
        *concealing_columns(ForumThread, signed_in=signed_in),
    ]
    return sa.select(*columns).select_from(source).where(ForumThread.id == sa.bindparam("id", type_=sa.BigInteger))


@cache
def prepared_thread(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(select_thread(signed_in=signed_in))


def read_thread(connection: sa.Connection, thread_id: int, caller_id: int | None) -> Partial[Thread]:
    """A thread with the tree of its replies, or of the first of them. `NotFound` without one."""
    thread = _read_row(connection, thread_id, caller_id)
    if thread["replies_count"] <= FEW_REPLIES and (all_of_them := read_all(connection, thread_id, caller_id)):
        return Partial({**thread, "replies": all_of_them.roots})
    return _with_replies(thread, read_first(connection, thread_id, caller_id, bytes_used=_size(thread)))


def read_part(
    connection: sa.Connection, thread_id: int, query: RepliesQuery, caller_id: int | None
) -> Partial[Thread] | ThreadPage:
    """A thread with the part of its replies that `query` asks for. `NotFound` without one."""
    thread = _read_row(connection, thread_id, caller_id)
    if not query.replies:
        return Partial({**thread, "replies": []})
    if query.after is not None or query.page is None:
        first = 0 if query.after is None else query.after + 1
        return _with_replies(
            thread, read_first(connection, thread_id, caller_id, first=first, bytes_used=_size(thread))
        )
    tree, total = read_reply_page(connection, thread_id, caller_id, query.page, bytes_used=_size(thread))
    return ThreadPage(tree.roots, total, query.page, thread=_with_replies(thread, tree).record)


def _read_row(connection: sa.Connection, thread_id: int, caller_id: int | None) -> ThreadRow:
    statement = prepared_thread(signed_in=caller_id is not None)
    rows = statement.rows(connection, {"id": thread_id, "caller_id": caller_id})
    if not rows:
        raise NotFound(THREAD_NOT_FOUND)
    *row, hidden_reason, is_blocked = rows[0]
    record = thread_record(row)
    if hidden_reason is not None or is_blocked:
        conceal(record, hidden_reason, is_blocked)
    return record


def _with_replies(thread: ThreadRow, tree: Tree) -> Partial[Thread]:
    if tree.last_id is None:
        return Partial({**thread, "replies": tree.roots})
    part: CutThread = {**thread, "replies": tree.roots, "replies_truncated": True}
    return Partial(part, after=tree.last_id)


def _size(thread: ThreadRow) -> int:
    """Bytes of a response that says that it is cut, without its replies."""
    return len(orjson.dumps({**thread, "replies": [], "replies_truncated": True}))
