"""Blocks: a person no longer sees the posts of another author.

An author writes under a name or under a pseudonym. A block covers only the name or pseudonym that the blocked post
shows. The response to a new block never depends on earlier blocks. A difference would reveal that a name and a
pseudonym belong to the same person.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.core.web.pagination import Listing, Page, paginate_rows
from app.forum.models import Block
from app.forum.service.locks import lock
from app.forum.service.reads import author_name
from app.identity.models import User
from app.identity.sessions import Caller

_KIND = sa.case((Block.use_pseudonym, "alias"), else_="name").label("kind")


def block_author(post_id: int, caller: Caller, *, is_thread: bool) -> None:
    post = lock(post_id, is_thread=is_thread)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    if post.user_id is None:
        raise Conflict("Akun penulisnya sudah dihapus.", code="author_gone")
    shown_as = sa.select(author_name(sa.literal(post.use_pseudonym))).where(User.id == post.user_id).scalar_subquery()
    db.session.execute(
        insert(Block)
        .values(user_id=caller.id, blocked_id=post.user_id, use_pseudonym=post.use_pseudonym, shown_as=shown_as)
        .on_conflict_do_nothing(index_elements=["user_id", "blocked_id", "use_pseudonym"])
    )


def list_own(page: Page, caller: Caller) -> Listing[sa.Row[int, str, str, datetime]]:
    """Return one page of the caller's blocks, newest first, without the ids of the blocked people."""
    rows = sa.select(Block.id, _KIND, Block.shown_as, Block.created_at)
    return paginate_rows(rows.where(Block.user_id == caller.id).order_by(Block.id.desc()), page)


def delete_own(block_id: int, caller: Caller) -> None:
    """Delete one of the caller's blocks. This works even if the blocked post is deleted already."""
    own = sa.delete(Block).where(Block.id == block_id, Block.user_id == caller.id)
    if db.session.scalar(own.returning(Block.id)) is None:
        raise NotFound("Blokir tidak ditemukan.")


def exported(user_id: int) -> sa.Select[str, str, datetime]:
    """Return the query of a person's blocks for the export of their data. The rows have no ids.

    The rows are sorted by kind and name. An order by time could show which pseudonym belongs to which name.
    """
    blocks = sa.select(_KIND, Block.shown_as, Block.created_at).where(Block.user_id == user_id)
    return blocks.order_by(_KIND, Block.shown_as)
