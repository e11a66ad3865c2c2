"""What the reads of threads and of replies have in common: the shape of their records, and the columns of people.

Here alone is decided what a response shows of an author, in SQL: under a pseudonym no id, picture or name leaves the
database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import sqlalchemy as sa

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

CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)

#: Columns of a statement that is put together from parts.
Columns = list[sa.SQLColumnExpression[object]]


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
    #: Only where it is so; the reason for its author alone.
    is_hidden: NotRequired[bool]
    hidden_reason: NotRequired[str]
    is_blocked: NotRequired[bool]
    #: Only in the answer to who has just written it: where somebody in danger finds help.
    help: NotRequired[Mapping[str, object]]


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


def author_columns(post: type[ForumThread] | type[ForumReply]) -> Columns:
    """Columns of the author as everybody may see them: id, name, image."""
    is_open = sa.not_(post.use_pseudonym)
    image = sa.case((is_open, media_path(User.image)))
    return [sa.case((is_open, User.id)), author_name(post.use_pseudonym), image]


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


def is_blocked(post: type[ForumThread] | type[ForumReply]) -> sa.ColumnElement[bool]:
    """Whether the caller has blocked whom the post shows as its author: by name or by pseudonym, as it was written.

    The caller's few blocks are read once, however many rows are asked about.
    """
    blocks = sa.select(ForumBlock.blocked_id, ForumBlock.use_pseudonym).where(ForumBlock.user_id == CALLER_ID)
    return sa.tuple_(sa.func.coalesce(post.user_id, 0), post.use_pseudonym).in_(blocks)


def is_listed(post: type[ForumThread] | type[ForumReply], *, signed_in: bool) -> list[sa.SQLColumnExpression[bool]]:
    """The conditions under which a list may hold a post.

    Blocks are an anti-join here: as in `is_blocked` they would be charged to each look at an index, and the planner
    would sooner scan the table.
    """
    is_shown: list[sa.SQLColumnExpression[bool]] = [post.hidden_reason.is_(None)]
    if not signed_in:
        return is_shown
    blocks = sa.select(ForumBlock.blocked_id).where(
        ForumBlock.user_id == CALLER_ID,
        ForumBlock.blocked_id == post.user_id,
        ForumBlock.use_pseudonym == post.use_pseudonym,
    )
    return [*is_shown, ~blocks.exists()]


def concealing_columns(post: type[ForumThread] | type[ForumReply], *, signed_in: bool) -> Columns:
    """Columns of what `conceal` goes by."""
    return [post.hidden_reason, is_blocked(post) if signed_in else sa.literal_column("false")]


def conceal(post: Post, hidden_reason: str | None, is_blocked: bool) -> None:
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
    post.update(stub)  # type: ignore[typeddict-item]  # of a thread the title too


def shown_title(thread: type[ForumThread]) -> sa.ColumnElement[str]:
    """The title of a thread beside a reply in one of the caller's own lists."""
    is_own = sa.func.coalesce(thread.user_id == CALLER_ID, sa.false())
    return sa.case(
        (thread.hidden_reason.is_not(None) & ~is_own, HIDDEN), (is_blocked(thread), BLOCKED), else_=thread.title
    )
