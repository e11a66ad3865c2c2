"""Reads of replies: one statement for all of a thread, put together as a tree."""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import AnySelect
from app.forum.models import ForumReply, ReplyMark
from app.forum.service.reads.posts import CALLER_ID, Post, author_columns, caller_columns, media_path
from app.identity.models import User


class Reply(Post):
    thread_id: int
    parent_id: int | None
    is_deleted: bool
    replies: list[Reply]


def select_replies(*, signed_in: bool) -> AnySelect:
    """The replies of `thread_id` whose id is at least `first`, oldest first."""
    source = sa.inspect(ForumReply).local_table.outerjoin(User, User.id == ForumReply.user_id)
    if signed_in:
        own_mark = sa.and_(ReplyMark.reply_id == ForumReply.id, ReplyMark.user_id == CALLER_ID)
        source = source.outerjoin(ReplyMark, own_mark)
    return (
        sa.select(
            ForumReply.id, ForumReply.parent_id, ForumReply.content, media_path(ForumReply.image),
            ForumReply.use_pseudonym, *author_columns(ForumReply), ForumReply.likes_count, ForumReply.saves_count,
            *caller_columns(ForumReply, ReplyMark, signed_in=signed_in), ForumReply.is_deleted,
            as_text(ForumReply.created_at), as_text(ForumReply.updated_at),
        )
        .select_from(source)
        .where(
            ForumReply.thread_id == sa.bindparam("thread_id", type_=sa.BigInteger),
            ForumReply.id >= sa.bindparam("first", type_=sa.BigInteger),
        )
        .order_by(ForumReply.id)
    )  # fmt: skip


@cache
def prepared_replies(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(select_replies(signed_in=signed_in))


def read_reply(connection: sa.Connection, thread_id: int, reply_id: int, caller_id: int | None) -> Reply:
    """A reply with all replies below it."""
    return read_tree(connection, thread_id, caller_id, first=reply_id)[0]


def read_tree(connection: sa.Connection, thread_id: int, caller_id: int | None, *, first: int = 0) -> list[Reply]:
    """The replies of a thread from the id `first` on, oldest first on every level.

    One pass is enough, because a reply's id is always larger than its parent's.
    """
    values = {"thread_id": thread_id, "first": first, "caller_id": caller_id}
    replies_below: dict[int, list[Reply]] = {}
    roots: list[Reply] = []
    for (
        id_, parent_id, content, image, use_pseudonym, author_id, author, author_image, likes, saves,
        is_liked, is_saved, is_owner, is_deleted, created_at, updated_at,
    ) in prepared_replies(signed_in=caller_id is not None).rows(connection, values):  # fmt: skip
        below: list[Reply] = []
        replies_below[id_] = below
        replies_below.get(parent_id, roots).append(
            {
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
        )
    return roots
