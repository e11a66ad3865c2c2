"""Reads of replies: one statement for those of a thread, put together as a tree.

A response holds a bounded part of a thread. Parts are cut in the order of ids, in which a reply comes after its parent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NotRequired

import orjson
import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import AnySelect
from app.core.web.pagination import MAX_UNPAGED, Page
from app.forum.models import MAX_DEPTH, ForumReply, ReplyMark
from app.forum.service.reads.posts import (
    CALLER_ID,
    Columns,
    Post,
    author_columns,
    caller_columns,
    conceal,
    concealing_columns,
    media_path,
)
from app.identity.models import User

#: A response with a thread has so many replies and bytes at most.
MAX_REPLIES = MAX_UNPAGED
MAX_BYTES = 2_000_000

#: A thread with so few replies stays below both limits whatever is in it: the longest content is 120 kB of JSON, and
#: stubs, which nobody counts, hold one reply in twenty at least.
FEW_REPLIES = 12

#: With more rows than these, or more contents, it holds hidden replies, which nobody counts either.
MOST_ROWS = FEW_REPLIES * MAX_DEPTH

THREAD_ID = sa.bindparam("thread_id", type_=sa.BigInteger)
FIRST_ID = sa.bindparam("first", type_=sa.BigInteger)


class Reply(Post):
    thread_id: int
    parent_id: int | None
    is_deleted: bool
    replies: list[Reply]
    #: Only where replies below it are left out.
    replies_truncated: NotRequired[bool]


@dataclass(frozen=True)
class Tree:
    """Replies, each with those below it; one whose parent is not among them stands on the first level."""

    roots: list[Reply]
    #: The last reply that is there when others, with larger ids, are left out; None when none is.
    last_id: int | None = None


def reply_columns(reply: type[ForumReply], *, signed_in: bool) -> Columns:
    return [
        reply.id, reply.parent_id, reply.content, media_path(reply.image),
        reply.use_pseudonym, *author_columns(reply), reply.likes_count, reply.saves_count,
        *caller_columns(reply, ReplyMark, signed_in=signed_in), reply.is_deleted,
        as_text(reply.created_at), as_text(reply.updated_at), *concealing_columns(reply, signed_in=signed_in),
    ]  # fmt: skip


def joined_replies(reply: type[ForumReply], source: sa.FromClause, *, signed_in: bool) -> sa.FromClause:
    """`source`, which holds `reply`, with its author and the caller's mark."""
    source = source.outerjoin(User, User.id == reply.user_id)
    if signed_in:
        source = source.outerjoin(ReplyMark, sa.and_(ReplyMark.reply_id == reply.id, ReplyMark.user_id == CALLER_ID))
    return source


def select_replies(*, signed_in: bool) -> AnySelect:
    """The replies of `thread_id` whose id is at least `first`, oldest first, and one more than a few are at most."""
    return (
        sa.select(*reply_columns(ForumReply, signed_in=signed_in))
        .select_from(joined_replies(ForumReply, sa.inspect(ForumReply).local_table, signed_in=signed_in))
        .where(ForumReply.thread_id == THREAD_ID, ForumReply.id >= FIRST_ID)
        .order_by(ForumReply.id)
        .limit(sa.literal_column(str(MOST_ROWS + 1), sa.Integer))
    )


def select_first_replies(*, signed_in: bool) -> AnySelect:
    """Of the same replies one more than a response may have, or as many as bring it to its limit of bytes."""
    matching = sa.select(ForumReply.__table__, _bytes_before()).where(
        ForumReply.thread_id == THREAD_ID, ForumReply.id >= FIRST_ID
    )
    return _bounded(matching, signed_in=signed_in)


def select_reply_page(*, signed_in: bool) -> AnySelect:
    """One page of the replies to the thread itself with all below them, cut as above; the last column counts them.

    Its row is there also when the page is empty.
    """
    top = sa.and_(ForumReply.thread_id == THREAD_ID, ForumReply.parent_id.is_(None))
    roots = (
        sa.select(ForumReply.id)
        .where(top)
        .order_by(ForumReply.id)
        .limit(sa.bindparam("size", type_=sa.Integer))
        .offset(sa.bindparam("offset", type_=sa.BigInteger))
        .subquery("roots")
    )
    tree = sa.select(roots.c.id).cte("tree", recursive=True)
    tree = tree.union_all(sa.select(ForumReply.id).join(tree, ForumReply.parent_id == tree.c.id))
    matching = sa.select(ForumReply.__table__, _bytes_before()).join(tree, tree.c.id == ForumReply.id)
    total = sa.select(sa.func.count().label("count")).select_from(ForumReply).where(top).subquery("total")
    return _bounded(matching, signed_in=signed_in, total=total)


def _bytes_before() -> sa.ColumnElement[int]:
    """Bytes of all contents before this one, which PostgreSQL knows without reading them."""
    sizes = sa.func.sum(sa.func.coalesce(sa.func.octet_length(ForumReply.content), 0))
    return sa.func.coalesce(sizes.over(order_by=ForumReply.id, rows=(None, -1)), 0).label("bytes_before")


def _bounded(matching: sa.Select[object], *, signed_in: bool, total: sa.Subquery | None = None) -> AnySelect:
    ordered = matching.order_by(ForumReply.id).limit(sa.literal_column(str(MAX_REPLIES + 1), sa.Integer)).subquery()
    within = ordered.c.bytes_before < sa.literal_column(str(MAX_BYTES))
    part = sa.select(ordered).where(within).subquery("part")
    reply = orm.aliased(ForumReply, part)
    source = joined_replies(reply, part if total is None else total.outerjoin(part, sa.true()), signed_in=signed_in)
    columns = reply_columns(reply, signed_in=signed_in) + ([] if total is None else [total.c.count])
    return sa.select(*columns).select_from(source).order_by(reply.id)


@cache
def prepared_replies(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(select_replies(signed_in=signed_in))


@cache
def prepared_first_replies(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(select_first_replies(signed_in=signed_in))


@cache
def prepared_reply_page(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(select_reply_page(signed_in=signed_in))


def read_reply(connection: sa.Connection, thread_id: int, reply_id: int, caller_id: int | None) -> Reply:
    """A reply with the replies below it, as many as a response may have."""
    tree = read_first(connection, thread_id, caller_id, first=reply_id)
    reply = tree.roots[0]
    if tree.last_id is not None:
        reply["replies_truncated"] = True
    return reply


def read_all(connection: sa.Connection, thread_id: int, caller_id: int | None) -> Tree | None:
    """The replies of a thread with at most `FEW_REPLIES`, oldest first on every level; None where there are more."""
    values = {"thread_id": thread_id, "first": 0, "caller_id": caller_id}
    rows = prepared_replies(signed_in=caller_id is not None).rows(connection, values)
    if len(rows) > FEW_REPLIES and (len(rows) > MOST_ROWS or _count_contents(rows) > FEW_REPLIES):
        return None
    return _tree(thread_id, rows)


def read_first(
    connection: sa.Connection, thread_id: int, caller_id: int | None, *, first: int = 0, bytes_used: int = 0
) -> Tree:
    """The replies of a thread from the id `first` on, as many as fit into a response beside `bytes_used`."""
    values = {"thread_id": thread_id, "first": first, "caller_id": caller_id}
    rows = prepared_first_replies(signed_in=caller_id is not None).rows(connection, values)
    return _cut_tree(thread_id, rows, bytes_used)


def read_page(
    connection: sa.Connection, thread_id: int, caller_id: int | None, page: Page, *, bytes_used: int
) -> tuple[Tree, int]:
    """One page of the replies to the thread itself with all below them, and how many such replies there are."""
    values = {"thread_id": thread_id, "caller_id": caller_id, "size": page.size, "offset": page.offset}
    rows = prepared_reply_page(signed_in=caller_id is not None).rows(connection, values)
    replies = [row[:-1] for row in rows if row[0] is not None]
    return _cut_tree(thread_id, replies, bytes_used), int(rows[0][-1])


def _cut_tree(thread_id: int, rows: list[tuple[Any, ...]], bytes_used: int) -> Tree:
    """The tree of as many of the rows as a response may have beside `bytes_used`; always of one at least."""
    replies_below: dict[int, list[Reply]] = {}
    roots: list[Reply] = []
    size, last_id = bytes_used, None
    for row in rows[:MAX_REPLIES]:
        below: list[Reply] = []
        reply = reply_record(thread_id, row, below)
        size += len(orjson.dumps(reply)) + 1  # nothing is below it yet; a comma follows it
        if size > MAX_BYTES and last_id is not None:
            break
        last_id = row[0]
        replies_below[last_id] = below
        replies_below.get(row[1], roots).append(reply)
    return Tree(roots, last_id if len(replies_below) < len(rows) else None)


def _count_contents(rows: Iterable[tuple[object, ...]]) -> int:
    return sum(1 for row in rows if row[2] is not None)


def _tree(thread_id: int, rows: Iterable[tuple[Any, ...]]) -> Tree:
    """The tree of all rows. One pass is enough, because a reply's id is always larger than its parent's."""
    replies_below: dict[int, list[Reply]] = {}
    roots: list[Reply] = []
    for row in rows:
        below: list[Reply] = []
        replies_below[row[0]] = below
        replies_below.get(row[1], roots).append(reply_record(thread_id, row, below))
    return Tree(roots)


def reply_record(thread_id: int, row: tuple[Any, ...], below: list[Reply]) -> Reply:
    (
        id_, parent_id, content, image, use_pseudonym, author_id, author, author_image, likes, saves,
        is_liked, is_saved, is_owner, is_deleted, created_at, updated_at, hidden_reason, is_blocked,
    ) = row  # fmt: skip
    reply: Reply = {
        "id": id_,
        "thread_id": thread_id,
        "parent_id": parent_id,
        "content": content,
        "image": image,
        "use_pseudonym": use_pseudonym,
        "author": None if is_deleted else {"id": author_id, "name": author, "image": author_image},
        "likes_count": likes,
        "saves_count": saves,
        "is_liked": is_liked,
        "is_saved": is_saved,
        "is_owner": is_owner,
        "is_deleted": is_deleted,
        "created_at": rfc3339(created_at),
        "updated_at": rfc3339(updated_at),
        "replies": below,
    }
    if hidden_reason is not None or is_blocked:
        conceal(reply, hidden_reason, is_blocked)
    return reply
