"""Blocks: a person no longer sees the posts of another author.

An author writes under a name or under a pseudonym. A block covers only the name or pseudonym that the blocked post
shows. The response to a new block never depends on earlier blocks. A difference would reveal that a name and a
pseudonym belong to the same person.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.core.web.pagination import Listing, Page, paginate_rows
from app.forum.models import ForumBlock
from app.forum.service import posts
from app.forum.service.posts import PostType
from app.forum.service.reads.posts import author_name
from app.identity.models import User
from app.identity.sessions import Caller

BLOCK_NOT_FOUND = "Blokir tidak ditemukan."

_KIND = sa.case((ForumBlock.use_pseudonym, "alias"), else_="name").label("kind")


class Block(TypedDict):
    """A block in a person's own list, with the name or pseudonym that the blocked post showed."""

    id: int
    kind: str
    shown_as: str | None
    created_at: datetime


def block_author(kind: PostType, post_id: int, caller: Caller) -> None:
    post = posts.get(kind, post_id)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    if post.user_id is None:
        raise Conflict("Akun penulisnya sudah dihapus.", code="author_gone")
    shown_as = sa.select(author_name(sa.literal(post.use_pseudonym))).where(User.id == post.user_id).scalar_subquery()
    db.session.execute(
        insert(ForumBlock)
        .values(user_id=caller.id, blocked_id=post.user_id, use_pseudonym=post.use_pseudonym, shown_as=shown_as)
        .on_conflict_do_nothing(index_elements=["user_id", "blocked_id", "use_pseudonym"])
    )


def unblock_author(kind: PostType, post_id: int, caller: Caller) -> None:
    post = posts.get(kind, post_id)
    db.session.execute(
        sa.delete(ForumBlock).where(
            ForumBlock.user_id == caller.id,
            ForumBlock.blocked_id == post.user_id,
            ForumBlock.use_pseudonym == post.use_pseudonym,
        )
    )


def list_own(page: Page, caller: Caller) -> Listing[Block]:
    """Return one page of the caller's blocks, newest first, without the ids of the blocked people."""
    rows = sa.select(ForumBlock.id, _KIND, ForumBlock.shown_as, ForumBlock.created_at)
    listing = paginate_rows(rows.where(ForumBlock.user_id == caller.id).order_by(ForumBlock.id.desc()), page)
    return Listing([_record(*row) for row in listing.rows], listing.total, listing.page)


def _record(id_: int, kind: str, shown_as: str | None, created_at: datetime) -> Block:
    return {"id": id_, "kind": kind, "shown_as": shown_as, "created_at": created_at}


def delete_own(block_id: int, caller: Caller) -> None:
    """Delete one of the caller's blocks. This works even if the blocked post is deleted already."""
    own = sa.delete(ForumBlock).where(ForumBlock.id == block_id, ForumBlock.user_id == caller.id)
    if db.session.scalar(own.returning(ForumBlock.id)) is None:
        raise NotFound(BLOCK_NOT_FOUND)


def exported(user_id: int) -> sa.Select[str, str | None, datetime]:
    """Return the query of a person's blocks for the export of their data. The rows have no ids.

    The rows are sorted by kind and name. An order by time could show which pseudonym belongs to which name.
    """
    blocks = sa.select(_KIND, ForumBlock.shown_as, ForumBlock.created_at).where(ForumBlock.user_id == user_id)
    return blocks.order_by(_KIND, ForumBlock.shown_as)
