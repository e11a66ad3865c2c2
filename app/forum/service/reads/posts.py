"""What the reads of threads and of replies have in common: the fields of their records, and the columns of people.

A record is a row as a dict, ready to be written as JSON.

Here alone is decided what a response shows of an author, in SQL: under a pseudonym no id, picture or name leaves the
database.
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

#: Names shown for an author whose account was deleted, and for one who has removed their pseudonym.
DELETED_ACCOUNT = "Akun dihapus"
ANONYMOUS = "Anonim"

#: What is read in place of a post that a moderator has hidden, and of one by somebody whom the reader has blocked.
HIDDEN = "[disembunyikan moderator]"
BLOCKED = "[diblokir]"

#: Null for a reader who is not signed in: nothing is theirs, and they have blocked nobody.
CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)

Record = dict[str, Any]
#: Columns by the names that they have in a record. The order is that of the JSON.
Fields = dict[str, sa.SQLColumnExpression[Any]]


def media_path(image: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[str]:
    """The path that a picture is served at, as `pictures.url` gives it; null without a picture."""
    return sa.literal_column("'/media/'").concat(image)


def author_name(use_pseudonym: sa.SQLColumnExpression[bool]) -> sa.ColumnElement[str]:
    """The name that is shown of an author, whom the statement joins as `User`."""
    return sa.case(
        (User.id.is_(None), DELETED_ACCOUNT),
        (use_pseudonym, sa.func.coalesce(User.nama_samaran, ANONYMOUS)),
        else_=User.nama_ktp,
    )


def post_fields(post: type[ForumThread] | type[ForumReply], mark: type[ThreadMark] | type[ReplyMark]) -> Fields:
    """Return the fields that threads and replies have in common, as `app.forum.schemas.Post` documents them.

    `read` makes `author` of three of them, and `conceal` goes by the last two.
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
    """Return the records of the posts that a statement selects, and its column `total`, or 0 without one."""
    records, total = [], 0
    for post in statement.records(connection, values):
        total = post.pop("total", 0)
        if post["id"] is None:  # an empty page has a row for its total
            continue
        post["author"] = {"id": post.pop("author_id"), "name": post["author"], "image": post.pop("author_image")}
        post["created_at"], post["updated_at"] = rfc3339(post["created_at"]), rfc3339(post["updated_at"])
        hidden_reason, is_blocked = post.pop("hidden_reason"), post.pop("is_blocked")
        if hidden_reason is not None or is_blocked:
            conceal(post, hidden_reason, is_blocked)
        records.append(post)
    return records, total


def is_blocked(post: type[ForumThread] | type[ForumReply]) -> sa.ColumnElement[bool]:
    """Whether the caller has blocked whom the post shows as its author: by name or by pseudonym, as it was written.

    The caller's few blocks are read once, however many rows are asked about.
    """
    blocks = sa.select(ForumBlock.blocked_id, ForumBlock.use_pseudonym).where(ForumBlock.user_id == CALLER_ID)
    return sa.tuple_(sa.func.coalesce(post.user_id, 0), post.use_pseudonym).in_(blocks)


def is_listed(post: type[ForumThread] | type[ForumReply], *, mine: bool = False) -> list[sa.SQLColumnExpression[bool]]:
    """Return the conditions under which a list may hold a post. With `mine` these are the caller's, hidden or not.

    Blocks are an anti-join here: as in `is_blocked` they would be charged to each look at an index, and the planner
    would sooner scan the table.
    """
    blocks = sa.select(ForumBlock.blocked_id).where(
        ForumBlock.user_id == CALLER_ID,
        ForumBlock.blocked_id == post.user_id,
        ForumBlock.use_pseudonym == post.use_pseudonym,
    )
    return [post.user_id == CALLER_ID] if mine else [post.hidden_reason.is_(None), ~blocks.exists()]


def conceal(post: Record, hidden_reason: str | None, is_blocked: bool) -> None:
    """Leave a stub of a post that is hidden or blocked. Its author reads what they wrote, and why it is hidden."""
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
    """The title of a thread beside a reply in one of the caller's own lists."""
    is_own = sa.func.coalesce(thread.user_id == CALLER_ID, sa.false())
    return sa.case(
        (thread.hidden_reason.is_not(None) & ~is_own, HIDDEN), (is_blocked(thread), BLOCKED), else_=thread.title
    )
