"""Erasure of a person's posts, likes, saves and appeals.

The person has chosen whether their posts are deleted, or stay without the author's name.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Case, Post
from app.forum.service import marks
from app.forum.service.posts import remove
from app.forum.service.reads import cases, posts
from app.identity.erasure import ErasureSubject, Posts

#: Maximum posts to delete in one transaction. A deletion needs several statements.
BATCH = 20


def erase_posts(person: ErasureSubject) -> bool:
    """Erase the person's posts, or one batch if they are deleted. Return whether more posts may remain."""
    marks.remove_all(person.id)  # locks the posts, too
    own = Post.user_id == person.id
    if person.posts is Posts.ANONYMISE:
        values = {"user_id": None, "image": None}
        db.session.execute(sa.update(Post).where(own).values(values).execution_options(synchronize_session=False))
        return False
    found = sa.select(Post).where(own).order_by(Post.id.desc()).limit(BATCH)
    batch = db.session.scalars(found.execution_options(populate_existing=True)).all()
    for post in batch:
        remove(post)
    return bool(batch)


def erase_marks(person: ErasureSubject) -> bool:
    marks.remove_all(person.id)
    return False


def erase_appeals(person: ErasureSubject) -> bool:
    own = sa.select(Post.id).where(Post.user_id == person.id)
    erased = sa.update(Case).where(Case.post_id.in_(own)).values(appeal=None)
    db.session.execute(erased.execution_options(synchronize_session=False))
    return False


def exported_cases(user_id: int) -> sa.Select[*tuple[Any, ...]]:
    """Return the query of the cases of a person's posts, for the export of their data."""
    own = sa.select(cases).join(posts, posts.c.id == cases.c.post_id).where(posts.c.user_id == user_id)
    return own.order_by(cases.c.id)
