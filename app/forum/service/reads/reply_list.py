"""The list of replies that a person has saved or written, each with the thread that it belongs to."""

from __future__ import annotations

from functools import cache
from typing import Any, TypedDict, cast

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.prepared import PreparedStatement
from app.core.database.session import AnySelect
from app.core.web.pagination import KeysetListing, Listing, contains
from app.forum.models import ForumReply, ForumThread, ReplyMark
from app.forum.schemas import ReplyQuery
from app.forum.service.reads.posts import CALLER_ID, Post, is_listed, shown_title
from app.forum.service.reads.replies import joined_replies, reply_columns, reply_record


class ThreadTitle(TypedDict):
    id: int
    title: str


class ReplyRow(Post):
    """A reply in a list, without those below it."""

    thread_id: int
    thread: ThreadTitle
    parent_id: int | None
    is_deleted: bool


def select_reply_list(*, saved: bool, mine: bool, before: bool, search: bool) -> AnySelect:
    """One statement for a page, newest first, and the total, which is the last column and there also without rows.

    Whatever else is asked, it reads the replies of one person alone.
    """
    matching = sa.select(ForumReply.__table__)
    rules: list[sa.SQLColumnExpression[bool]] = [~ForumReply.is_deleted, *is_listed(ForumReply, signed_in=not mine)]
    if saved:
        mark = orm.aliased(ReplyMark)
        matching = matching.join(mark, mark.reply_id == ForumReply.id)
        rules += [mark.user_id == CALLER_ID, mark.is_saved]
    if mine:
        rules.append(ForumReply.user_id == CALLER_ID)
    if search:
        rules.append(ForumReply.content.ilike(sa.bindparam("pattern", type_=sa.Text)))
    total = matching.with_only_columns(sa.func.count().label("count"), maintain_column_froms=True).where(*rules)
    if before:
        rules.append(ForumReply.id < sa.bindparam("before", type_=sa.BigInteger))
    page = (
        matching.where(*rules)
        .order_by(ForumReply.id.desc())
        .limit(sa.bindparam("size", type_=sa.Integer))
        .offset(sa.bindparam("offset", type_=sa.BigInteger))
        .subquery("page")
    )
    reply, counted = orm.aliased(ForumReply, page), total.subquery("total")
    source = joined_replies(reply, counted.outerjoin(page, sa.true()), signed_in=True)
    source = source.outerjoin(ForumThread, ForumThread.id == reply.thread_id)
    columns = [*reply_columns(reply, signed_in=True), reply.thread_id, shown_title(ForumThread), counted.c.count]
    return sa.select(*columns).select_from(source).order_by(reply.id.desc())


@cache
def prepared_reply_list(**kinds: bool) -> PreparedStatement:
    return PreparedStatement(select_reply_list(**kinds))


def read_list(connection: sa.Connection, query: ReplyQuery, caller_id: int) -> Listing[ReplyRow]:
    """One page of the replies that the caller has saved or, where that is asked, written."""
    page = query.page
    statement = prepared_reply_list(
        saved=query.saved or not query.mine,
        mine=query.mine,
        before=query.before is not None,
        search=query.q is not None,
    )
    values = {
        "caller_id": caller_id,
        "before": query.before,
        "pattern": contains(query.q or ""),
        "size": page.size,
        "offset": page.offset,
    }
    rows = statement.rows(connection, values)
    records = [_record(row) for row in rows if row[0] is not None]
    total = int(rows[0][-1])
    if query.before is None:
        return Listing(records, total, page)
    return KeysetListing(records, total, page, before=records[-1]["id"] if len(records) == page.size else None)


def _record(row: tuple[Any, ...]) -> ReplyRow:
    *columns, thread_id, title, _ = row
    record: dict[str, object] = {**reply_record(thread_id, tuple(columns), [])}
    del record["replies"]
    return cast(ReplyRow, {**record, "thread": {"id": thread_id, "title": title}})
