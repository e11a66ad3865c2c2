"""What the reads of threads and of replies have in common: the shape of their records, and the columns of people.

Here alone is decided what a response shows of an author, in SQL: under a pseudonym no id, picture or name leaves the
database.
"""

from __future__ import annotations

from typing import Any, TypedDict

import sqlalchemy as sa

from app.forum.models import ForumReply, ForumThread, ReplyMark, ThreadMark
from app.identity.models import User

THREAD_NOT_FOUND = "Utas tidak ditemukan."
REPLY_NOT_FOUND = "Balasan tidak ditemukan."

#: Names shown for an author whose account was deleted, and for one who has removed their pseudonym.
DELETED_ACCOUNT = "Akun dihapus"
ANONYMOUS = "Anonim"

CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)

#: Columns of a statement that is put together from parts.
Columns = list[sa.SQLColumnExpression[Any]]


class Author(TypedDict):
    id: int | None
    name: str
    image: str | None


class Post(TypedDict):
    """The fields of `app.forum.schemas.Post`, ready to be written as JSON."""

    id: int
    content: str | None
    image: str | None
    use_pseudonym: bool
    author: Author | None
    likes_count: int
    saves_count: int
    is_liked: bool
    is_saved: bool
    is_owner: bool
    created_at: str
    updated_at: str


def media_path(image: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[str]:
    """The path that a picture is served at, as `pictures.url` gives it; null without a picture."""
    return sa.literal_column("'/media/'").concat(image)


def author_columns(post: type[ForumThread] | type[ForumReply]) -> Columns:
    """Columns of the author as everybody may see them: id, name, image."""
    is_open = sa.not_(post.use_pseudonym)
    name = sa.case(
        (User.id.is_(None), DELETED_ACCOUNT),
        (post.use_pseudonym, sa.func.coalesce(User.nama_samaran, ANONYMOUS)),
        else_=User.nama_ktp,
    )
    return [sa.case((is_open, User.id)), name, sa.case((is_open, media_path(User.image)))]


def caller_columns(
    post: type[ForumThread] | type[ForumReply], mark: type[ThreadMark] | type[ReplyMark], *, signed_in: bool
) -> Columns:
    """Columns of what the post is to the caller: is_liked, is_saved, is_owner."""
    if not signed_in:
        return [sa.literal_column("false")] * 3
    return [
        sa.func.coalesce(mark.is_liked, sa.false()),
        sa.func.coalesce(mark.is_saved, sa.false()),
        sa.func.coalesce(post.user_id == CALLER_ID, sa.false()),
    ]
