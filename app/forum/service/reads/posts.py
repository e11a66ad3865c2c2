"""Code that the reads of threads and of replies share. A post is a thread or a reply.

A record is the dict of one post in a response. Only the SQL expressions of this module determine which data of an
author a record contains. For a post under a pseudonym, the database does not return the author's id, picture or name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from app.core.database.db_time import as_text, rfc3339
from app.core.database.session import AnySelect, records
from app.forum.models import ForumBlock, ForumReply, ForumThread, ReplyMark, ThreadMark
from app.identity.models import User

THREAD_NOT_FOUND = "Utas tidak ditemukan."
REPLY_NOT_FOUND = "Balasan tidak ditemukan."

#: Name of an author whose account is deleted.
DELETED_ACCOUNT = "Akun dihapus"
#: Name that a post under a pseudonym shows after its author has removed the pseudonym from the profile.
ANONYMOUS = "Anonim"

#: Text in place of the content of a hidden post.
HIDDEN = "[disembunyikan moderator]"
#: Text in place of the content of a post by a blocked author.
BLOCKED = "[diblokir]"

#: Parameter with the id of the caller, or null for a request without a token.
CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)

Record = dict[str, Any]
#: SQL columns by their field names in a record, in the order of the response.
Fields = dict[str, sa.SQLColumnExpression[Any]]


def media_path(image: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[str]:
    """Return an SQL expression for the URL path of a picture. The path is null without a picture."""
    return sa.literal_column("'/media/'").concat(image)


def author_name(use_pseudonym: sa.SQLColumnExpression[bool]) -> sa.ColumnElement[str]:
    """Return an SQL expression for the name that a post shows. The statement must join the author as `User`."""
    return sa.case(
        (User.id.is_(None), DELETED_ACCOUNT),
        (use_pseudonym, sa.func.coalesce(User.nama_samaran, ANONYMOUS)),
        else_=User.nama_ktp,
    )


def post_fields(post: type[ForumThread] | type[ForumReply], mark: type[ThreadMark] | type[ReplyMark]) -> Fields:
    """Return the fields that threads and replies share. `app.forum.schemas.Post` documents them.

    `read` merges the three author fields into one. It uses `hidden_reason` and `is_blocked` to hide posts.
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


def read(statement: AnySelect, values: Mapping[str, object]) -> tuple[list[Record], int]:
    """Return the records of the selected posts, and the value of the column `total`.

    The value is 0 if the statement has no column `total`.
    """
    found, total = [], 0
    for post in records(statement, values):
        total = post.pop("total", 0)
        if post["id"] is None:  # an empty page still has one row, because the total is a column
            continue
        post["author"] = {"id": post.pop("author_id"), "name": post["author"], "image": post.pop("author_image")}
        post["created_at"], post["updated_at"] = rfc3339(post["created_at"]), rfc3339(post["updated_at"])
        hidden_reason, is_blocked = post.pop("hidden_reason"), post.pop("is_blocked")
        if hidden_reason is not None or is_blocked:
            conceal(post, hidden_reason, is_blocked)
        found.append(post)
    return found, total


def is_blocked(post: type[ForumThread] | type[ForumReply]) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if the caller has blocked the name or pseudonym that the post shows.

    PostgreSQL reads the caller's blocks once for each statement, not once for each post.
    """
    blocks = sa.select(ForumBlock.blocked_id, ForumBlock.use_pseudonym).where(ForumBlock.user_id == CALLER_ID)
    return sa.tuple_(sa.func.coalesce(post.user_id, 0), post.use_pseudonym).in_(blocks)


def is_listed(post: type[ForumThread] | type[ForumReply], *, mine: bool = False) -> list[sa.SQLColumnExpression[bool]]:
    """Return the SQL conditions for posts in a list. With `mine`, select all posts of the caller, also hidden ones.

    Posts of blocked authors are excluded with NOT EXISTS. The subquery of `is_blocked` would make PostgreSQL scan the
    whole table.
    """
    blocks = sa.select(ForumBlock.blocked_id).where(
        ForumBlock.user_id == CALLER_ID,
        ForumBlock.blocked_id == post.user_id,
        ForumBlock.use_pseudonym == post.use_pseudonym,
    )
    return [post.user_id == CALLER_ID] if mine else [post.hidden_reason.is_(None), ~blocks.exists()]


def conceal(post: Record, hidden_reason: str | None, is_blocked: bool) -> None:
    """Replace the text and picture of a hidden or blocked post. The author of a hidden post still gets the text."""
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
    """Return an SQL expression for the title of a reply's thread. Titles of hidden and blocked threads are replaced."""
    is_own = sa.func.coalesce(thread.user_id == CALLER_ID, sa.false())
    return sa.case(
        (thread.hidden_reason.is_not(None) & ~is_own, HIDDEN), (is_blocked(thread), BLOCKED), else_=thread.title
    )
