"""Blocks: a person reads no more of what is written under a name, or under a pseudonym.

What is blocked is the identity that the post shows, and nothing else of whoever is behind it. The answer is the same
whatever was blocked before: a different one would tell that two posts are by one person.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.core.errors import Conflict
from app.forum.models import ForumBlock, ForumReply, ForumThread
from app.forum.service import posts
from app.forum.service.posts import PostType
from app.forum.service.reads.posts import author_name
from app.identity.models import User
from app.identity.sessions import Caller


def block_author(kind: PostType, post_id: int, caller: Caller) -> None:
    """Block what a post shows as its author."""
    post = posts.get(kind, post_id)
    if post.user_id == caller.id:
        raise Conflict("Ini tulisan Anda sendiri.", code="own_post")
    if post.user_id is None:
        raise Conflict("Akun penulisnya sudah dihapus.", code="author_gone")
    db.session.execute(
        insert(ForumBlock)
        .values(user_id=caller.id, blocked_id=post.user_id, use_pseudonym=post.use_pseudonym)
        .on_conflict_do_nothing()
    )


def unblock_author(kind: PostType, post_id: int, caller: Caller) -> None:
    """Unblock what a post shows as its author."""
    post = posts.get(kind, post_id)
    db.session.execute(
        sa.delete(ForumBlock).where(
            ForumBlock.user_id == caller.id,
            ForumBlock.blocked_id == post.user_id,
            ForumBlock.use_pseudonym == post.use_pseudonym,
        )
    )


def exported(user_id: int) -> sa.Select[str, str | None]:
    """Select a person's blocks for their export: kind (`name` or `alias`), and the name that posts show now.

    Without a post that shows the name it is null, because the name may be another one since. No id is selected, and
    rows are ordered by what they show: both would show that a name and an alias are one person.
    """
    kind = sa.case((ForumBlock.use_pseudonym, "alias"), else_="name").label("kind")
    shown_as = sa.case((_is_shown(), author_name(ForumBlock.use_pseudonym))).label("shown_as")
    blocks = sa.select(kind, shown_as).join(User, User.id == ForumBlock.blocked_id)
    return blocks.where(ForumBlock.user_id == user_id).order_by(kind, shown_as)


def _is_shown() -> sa.ColumnElement[bool]:
    """Whether any post shows what a row of the blocks names."""
    return sa.or_(
        *(
            sa.exists().where(
                post.user_id == ForumBlock.blocked_id,
                post.use_pseudonym == ForumBlock.use_pseudonym,
                post.hidden_reason.is_(None),
            )
            for post in (ForumThread, ForumReply)
        )
    )
