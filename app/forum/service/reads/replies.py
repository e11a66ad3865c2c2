"""Reads of a thread's replies. One SQL statement reads the replies, and Python code builds their tree.

A response has a limited number of replies. The next response continues with larger ids. A reply's id is larger than
the id of its parent, so a parent is never in a later response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import orjson
import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import AnySelect
from app.core.web.pagination import MAX_UNPAGED, Page
from app.forum.models import ForumReply, ReplyMark
from app.forum.service.reads.posts import CALLER_ID, Fields, Record, post_fields, read, select_fields
from app.identity.models import User

#: Maximum replies, and maximum bytes of JSON, in the response for one thread.
MAX_REPLIES = MAX_UNPAGED
MAX_BYTES = 2_000_000

THREAD_ID = sa.bindparam("thread_id", type_=sa.BigInteger)
FIRST_ID = sa.bindparam("first", type_=sa.BigInteger)


@dataclass(frozen=True)
class Tree:
    """The tree of replies in one response. A reply is on the first level if its parent is not in this response."""

    roots: list[Record]
    #: Id of the last reply in the response if the thread has more replies, else None.
    last_id: int | None
    #: Number of all replies to the thread itself, or 0 if the query asks for no page.
    total: int


def reply_fields(reply: type[ForumReply]) -> Fields:
    """Return the fields of a reply, as `app.forum.schemas.PlainReply` documents them."""
    return {
        **post_fields(reply, ReplyMark),
        "thread_id": reply.thread_id,
        "parent_id": reply.parent_id,
        "is_deleted": reply.is_deleted,
    }


def joined_replies(reply: type[ForumReply], source: sa.FromClause) -> sa.FromClause:
    source = source.outerjoin(User, User.id == reply.user_id)
    return source.outerjoin(ReplyMark, sa.and_(ReplyMark.reply_id == reply.id, ReplyMark.user_id == CALLER_ID))


def read_replies(statement: AnySelect, values: Mapping[str, object]) -> tuple[list[Record], int]:
    replies, total = read(statement, values)
    for reply in replies:
        if reply["is_deleted"]:
            reply["author"] = None
    return replies, total


@cache
def select_replies(*, paged: bool) -> AnySelect:
    """Return the statement that selects a thread's replies, oldest first.

    Without `paged`, the statement selects only replies with an id of at least `first`.
    The statement returns at most `MAX_REPLIES` + 1 rows. The extra row shows that the response leaves out replies.
    With `paged`, the statement selects one page of replies to the thread itself, with all replies below them. The
    column `total` then has the number of replies to the thread itself.
    """
    # octet_length() is cheap, because PostgreSQL stores the size of each text and need not read the text.
    sizes = sa.func.sum(sa.func.coalesce(sa.func.octet_length(ForumReply.content), 0))
    bytes_before = sa.func.coalesce(sizes.over(order_by=ForumReply.id, rows=(None, -1)), 0).label("bytes_before")
    matching = sa.select(ForumReply.__table__, bytes_before)
    top = sa.and_(ForumReply.thread_id == THREAD_ID, ForumReply.parent_id.is_(None))
    if paged:
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
        matching = matching.join(tree, tree.c.id == ForumReply.id)
    else:
        matching = matching.where(ForumReply.thread_id == THREAD_ID, ForumReply.id >= FIRST_ID)
    ordered = matching.order_by(ForumReply.id).limit(sa.literal_column(str(MAX_REPLIES + 1), sa.Integer)).subquery()
    within = ordered.c.bytes_before < sa.literal_column(str(MAX_BYTES))
    part = sa.select(ordered).where(within).subquery("part")
    reply = orm.aliased(ForumReply, part)
    fields = reply_fields(reply)
    source: sa.FromClause = part
    if paged:
        total = sa.select(sa.func.count().label("count")).select_from(ForumReply).where(top).subquery("total")
        fields["total"], source = total.c.count, total.outerjoin(part, sa.true())
    return select_fields(fields, joined_replies(reply, source)).order_by(reply.id)


def read_reply(thread_id: int, reply_id: int, caller_id: int | None) -> Record:
    """Return a reply with the replies below it, up to the limits of one response."""
    tree = read_tree(thread_id, caller_id, first=reply_id)
    reply = tree.roots[0]
    if tree.last_id is not None:
        reply["replies_truncated"] = True
    return reply


def read_tree(
    thread_id: int,
    caller_id: int | None,
    *,
    first: int = 0,
    page: Page | None = None,
    bytes_used: int = 0,
) -> Tree:
    """Return those replies of a thread that have an id of at least `first`.

    With `page`, return one page of replies to the thread itself.
    Stop at `MAX_REPLIES` replies or `MAX_BYTES` bytes, but return at least one reply. `bytes_used` is the number of
    bytes that the response has without the replies.
    """
    values: dict[str, object] = {"thread_id": thread_id, "first": first, "caller_id": caller_id}
    if page is not None:
        values |= {"size": page.size, "offset": page.offset}
    replies, total = read_replies(select_replies(paged=page is not None), values)
    replies_below: dict[int, list[Record]] = {}
    roots: list[Record] = []
    size, last_id = bytes_used, None
    # One pass is enough, because the id of a reply is always larger than the id of its parent.
    for reply in replies[:MAX_REPLIES]:
        reply["replies"] = []
        size += len(orjson.dumps(reply)) + 1  # 1 byte for the comma after the reply
        if size > MAX_BYTES and last_id is not None:
            break
        last_id = reply["id"]
        replies_below[reply["id"]] = reply["replies"]
        replies_below.get(reply["parent_id"], roots).append(reply)
    return Tree(roots, last_id if len(replies_below) < len(replies) else None, total)
