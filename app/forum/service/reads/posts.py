"""Code that the reads of threads and of replies share: fields of records, and columns of authors.

A record is a row as a dict that is ready for JSON.

Only this module decides which data of an author a response shows. It decides in SQL: for a pseudonymous post, the
database returns no id, picture or real name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import AnySelect
from app.forum.models import ForumBlock, ForumReply, ForumThread, ReplyMark, ThreadMark
from app.identity.models import User

THREAD_NOT_FOUND = "Utas tidak ditemukan."
REPLY_NOT_FOUND = "Balasan tidak ditemukan."

#: Names for an author with a deleted account, and for an author who has removed their pseudonym.
DELETED_ACCOUNT = "Akun dihapus"
ANONYMOUS = "Anonim"

#: Texts in place of a hidden post, and in place of a post by a blocked author.
HIDDEN = "[disembunyikan moderator]"
BLOCKED = "[diblokir]"

#: The caller's id. It is null without a token: the reader then has no posts, marks or blocks.
CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)

Record = dict[str, Any]
#: Columns by their names in a record, in the order of the JSON.
Fields = dict[str, sa.SQLColumnExpression[Any]]


def media_path(image: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[str]:
    """Return the path of a picture, like `pictures.url`; null without a picture."""
    return sa.literal_column("'/media/'").concat(image)


def author_name(use_pseudonym: sa.SQLColumnExpression[bool]) -> sa.ColumnElement[str]:
    """Return the name that a post shows for its author. The statement must join the author as `User`."""
    return sa.case(
        (User.id.is_(None), DELETED_ACCOUNT),
        (use_pseudonym, sa.func.coalesce(User.nama_samaran, ANONYMOUS)),
        else_=User.nama_ktp,
    )


def post_fields(post: type[ForumThread] | type[ForumReply], mark: type[ThreadMark] | type[ReplyMark]) -> Fields:
    """Return the fields that threads and replies share; `app.forum.schemas.Post` documents them.

    `read` merges the three author fields into `author`, and removes the last two fields after `conceal` used them.
    """
    is_open = sa.not_(post.use_pseudonym)
    return {
        "id": post.id,
        "content": post.content,
        "image": media_path(sa.case((~post.image_is_held, post.image))),
        "use_pseudonym": post.use_pseudonym,
        "author": author_name(post.use_pseudonym),
        "author_id": sa.case((is_open, User.id)),
        "author_image": sa.case((is_open, media_path(User.image))),
        "likes_count": post.likes_count,
        "saves_count": post.saves_count,
        "is_liked": sa.func.coalesce(mark.is_liked, sa.false()),
        "is_saved": sa.func.coalesce(mark.is_saved, sa.false()),
        "is_owner": sa.func.coalesce(post.user_id == CALLER_ID, sa.false()),
        "created_at": as_text(post.created_at),
        "updated_at": as_text(post.updated_at),
        "hidden_reason": post.hidden_reason,
        "is_blocked": is_blocked(post),
    }


def select_fields(fields: Fields, source: sa.FromClause) -> AnySelect:
    return sa.select(*(column.label(name) for name, column in fields.items())).select_from(source)


def read(
    statement: PreparedStatement, connection: sa.Connection, values: Mapping[str, object]
) -> tuple[list[Record], int]:
    """Return the records of the posts that a statement selects, and its column `total` (0 without that column)."""
    records, total = [], 0
    for post in statement.records(connection, values):
        total = post.pop("total", 0)
        if post["id"] is None:  # an empty page has one row, for the total
            continue
        post["author"] = {"id": post.pop("author_id"), "name": post["author"], "image": post.pop("author_image")}
        post["created_at"], post["updated_at"] = rfc3339(post["created_at"]), rfc3339(post["updated_at"])
        hidden_reason, is_blocked = post.pop("hidden_reason"), post.pop("is_blocked")
        if hidden_reason is not None or is_blocked:
            conceal(post, hidden_reason, is_blocked)
        records.append(post)
    return records, total


def is_blocked(post: type[ForumThread] | type[ForumReply]) -> sa.ColumnElement[bool]:
    """Return the SQL condition that the caller has blocked the name or pseudonym that the post shows.

    The subquery reads the caller's few blocks once for each statement, not once for each row.
    """
    blocks = sa.select(ForumBlock.blocked_id, ForumBlock.use_pseudonym).where(ForumBlock.user_id == CALLER_ID)
    return sa.tuple_(sa.func.coalesce(post.user_id, 0), post.use_pseudonym).in_(blocks)


def is_listed(post: type[ForumThread] | type[ForumReply], *, mine: bool = False) -> list[sa.SQLColumnExpression[bool]]:
    """Return the conditions for a post to be in a list. With `mine` they select the caller's posts, hidden or not.

    Blocks are an anti-join here. The planner would add the cost of the subquery in `is_blocked` to each index scan,
    and would prefer to scan the whole table.
    """
    blocks = sa.select(ForumBlock.blocked_id).where(
        ForumBlock.user_id == CALLER_ID,
        ForumBlock.blocked_id == post.user_id,
        ForumBlock.use_pseudonym == post.use_pseudonym,
    )
    return [post.user_id == CALLER_ID] if mine else [post.hidden_reason.is_(None), ~blocks.exists()]


def conceal(post: Record, hidden_reason: str | None, is_blocked: bool) -> None:
    """Replace a hidden or blocked post by a stub. The author of a hidden post gets its text and the reason instead."""
    if hidden_reason is not None:
        post["is_hidden"] = True
        if post["is_owner"]:
            post["hidden_reason"] = hidden_reason
            return
    if is_blocked:
        post["is_blocked"] = True
        post["author"] = {"id": None, "name": BLOCKED, "image": None}
    stub = {"content": HIDDEN if hidden_reason is not None else BLOCKED, "image": None}
    if "title" in post:
        stub["title"] = stub["content"]
    post.update(stub)


def shown_title(thread: type[ForumThread]) -> sa.ColumnElement[str]:
    """Return the thread's title for a reply in one of the caller's own lists."""
    is_own = sa.func.coalesce(thread.user_id == CALLER_ID, sa.false())
    return sa.case(
        (thread.hidden_reason.is_not(None) & ~is_own, HIDDEN), (is_blocked(thread), BLOCKED), else_=thread.title
    )
