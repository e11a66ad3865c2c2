"""The list of replies that a person has saved or written. Each reply has the id and the title of its thread."""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import AnySelect
from app.core.web.pagination import KeysetListing, Listing, contains
from app.forum.models import ForumReply, ForumThread, ReplyMark
from app.forum.schemas import ReplyQuery
from app.forum.service.reads.posts import CALLER_ID, Record, is_listed, select_fields, shown_title
from app.forum.service.reads.replies import joined_replies, read_replies, reply_fields


@cache
def select_reply_list(*, saved: bool, mine: bool, before: bool, search: bool) -> AnySelect:
    """Return the statement for one page of replies, newest first. The column `total` has the number of matches.

    Even an empty page has one row, because this row has the `total`. At least one of `saved` and `mine` is true.
    """
    matching = sa.select(ForumReply.__table__)
    rules: list[sa.SQLColumnExpression[bool]] = [~ForumReply.is_deleted, *is_listed(ForumReply, mine=mine)]
    if saved:
        mark = orm.aliased(ReplyMark)
        matching = matching.join(mark, mark.reply_id == ForumReply.id)
        rules += [mark.user_id == CALLER_ID, mark.is_saved]
    if search:
        rules.append(ForumReply.content.regexp_match(sa.bindparam("pattern", type_=sa.Text), flags="i"))
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
    source = joined_replies(reply, counted.outerjoin(page, sa.true()))
    source = source.outerjoin(ForumThread, ForumThread.id == reply.thread_id)
    fields = {**reply_fields(reply), "thread": shown_title(ForumThread), "total": counted.c.count}
    return select_fields(fields, source).order_by(reply.id.desc())


def read_list(query: ReplyQuery, caller_id: int) -> Listing[Record]:
    """Return one page of the replies that the caller has saved.

    With `mine`, return the replies that the caller has written. With `saved` and `mine`, both conditions must be true.
    """
    page = query.page
    statement = select_reply_list(
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
    replies, total = read_replies(statement, values)
    for reply in replies:
        reply["thread"] = {"id": reply["thread_id"], "title": reply["thread"]}
        reply["content"] = page.cut(reply["content"])
    if query.before is None:
        return Listing(replies, total, page)
    before = replies[-1]["id"] if len(replies) == page.size else None
    return KeysetListing(replies, total, page, before=before)
