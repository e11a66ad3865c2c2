"""What threads and replies have in common: whose they are, their picture, their pseudonym."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Forbidden, ValidationFailed
from app.core.media import pictures
from app.forum.models import ForumReply, ForumThread
from app.identity import audit
from app.identity.models import RoleName, User
from app.identity.sessions import Caller

Post = ForumThread | ForumReply


def take_picture(data: dict[str, Any]) -> None:
    """Store the picture that came along and put its name in its place; a null stays null.

    Called before the first statement, so that no transaction waits while it is decoded.
    """
    if data.get("image") is not None:
        data["image"] = pictures.save(data["image"])


def check_pseudonym(data: dict[str, Any], caller: Caller) -> None:
    """Nobody is hidden behind a pseudonym that they do not have."""
    if not data.get("use_pseudonym"):
        return
    if not db.session.scalar(sa.select(User.nama_samaran).where(User.id == caller.id)):
        raise ValidationFailed({"use_pseudonym": ["membutuhkan nama samaran di profil."]})


def check_owner(post: Post, caller: Caller) -> None:
    if post.user_id != caller.id:
        raise Forbidden("Hanya penulisnya yang dapat mengubahnya.", code="not_the_owner")


def check_may_delete(post: Post, caller: Caller) -> None:
    """The author may; an administrator may delete anybody's, and that is written down."""
    if post.user_id == caller.id:
        return
    if not caller.has(RoleName.ADMIN, RoleName.SUPERADMIN):
        raise Forbidden("Hanya penulisnya yang dapat menghapusnya.", code="not_the_owner")
    # Not whose it was: a log is no way around a pseudonym.
    audit.record(caller, audit.Action.DELETED, f"{post.__tablename__}:{post.id}")


def change(post: Post, data: dict[str, Any]) -> None:
    """Set what was sent; a picture that is replaced or taken away goes with the commit."""
    if "image" in data:
        pictures.discard(post.image)
    for name, value in data.items():
        setattr(post, name, value)
    post.updated_at = sa.func.now()
    db.session.flush()
