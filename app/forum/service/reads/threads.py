"""Reads of one thread. For speed, rows become dicts without the ORM or marshmallow.

`thread_list` reads the list of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import orjson
import sqlalchemy as sa

from app.core.database.session import AnySelect
from app.core.errors import NotFound
from app.core.web.pagination import Listing, TruncatedRecord
from app.forum.models import ForumCategory, ForumThread, ThreadMark
from app.forum.schemas import RepliesQuery
from app.forum.service.reads.posts import CALLER_ID, THREAD_NOT_FOUND, Fields, Record, post_fields, read, select_fields
from app.forum.service.reads.replies import read_tree
from app.identity.models import User

ALL_REPLIES = RepliesQuery()


@dataclass(frozen=True)
class ThreadPage(Listing[Record]):
    """A thread with one page of replies to the thread itself. Each of these replies has all replies below it."""

    record: Record

    @property
    def body(self) -> Record:
        return self.record


def thread_fields(thread: type[ForumThread]) -> Fields:
    """Return the fields of a thread, as `app.forum.schemas.ThreadRow` documents them."""
    return {
        **post_fields(thread, ThreadMark),
        "category_id": thread.category_id,
        "category": ForumCategory.name,
        "title": thread.title,
        "replies_count": thread.replies_count,
    }


def joined_threads(thread: type[ForumThread], source: sa.FromClause) -> sa.FromClause:
    source = source.outerjoin(ForumCategory, ForumCategory.id == thread.category_id)
    source = source.outerjoin(User, User.id == thread.user_id)
    return source.outerjoin(ThreadMark, sa.and_(ThreadMark.thread_id == thread.id, ThreadMark.user_id == CALLER_ID))


def read_threads(statement: AnySelect, values: Mapping[str, object]) -> tuple[list[Record], int]:
    threads, total = read(statement, values)
    for thread in threads:
        thread["category"] = {"id": thread["category_id"], "name": thread["category"]}
    return threads, total


@cache
def select_thread() -> AnySelect:
    source = joined_threads(ForumThread, sa.inspect(ForumThread).local_table)
    return select_fields(thread_fields(ForumThread), source).where(
        ForumThread.id == sa.bindparam("id", type_=sa.BigInteger)
    )


def read_thread(
    thread_id: int, caller_id: int | None, query: RepliesQuery = ALL_REPLIES
) -> TruncatedRecord[Record] | ThreadPage:
    """Return a thread with the replies that `query` selects. Raise `NotFound` for an unknown id."""
    values = {"id": thread_id, "caller_id": caller_id}
    threads, _ = read_threads(select_thread(), values)
    if not threads:
        raise NotFound(THREAD_NOT_FOUND)
    thread: Record = {**threads[0], "replies": []}
    if not query.replies:
        return TruncatedRecord(thread)
    page = query.page if query.after is None else None
    tree = read_tree(
        thread_id,
        caller_id,
        first=0 if query.after is None else query.after + 1,
        page=page,
        bytes_used=len(orjson.dumps({**thread, "replies_truncated": True})),
    )
    thread["replies"] = tree.roots
    if tree.last_id is not None:
        thread["replies_truncated"] = True
    if page is not None:
        return ThreadPage(tree.roots, tree.total, page, record=thread)
    return TruncatedRecord(thread, after=tree.last_id)
