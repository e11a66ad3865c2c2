"""Tables of the forum: categories, posts, likes and saves, blocks, and moderation.

A post is a thread or a reply. The row of a post has counters of its likes, saves and replies.
`app.forum.service.posts` defines the order of locks.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Custom, Delete, Detach, Personal, Rows
from app.core.database.session import Base, Created, trigrams

#: Maximum levels of replies. If somebody replies to a reply on the last level, the new reply gets the same level.
#: A deeper tree would be hard to read.
MAX_DEPTH = 20


class CaseState(StrEnum):
    #: The case waits for a moderator. After three reports, the post is hidden until the moderator decides.
    OPEN = "open"
    KEPT = "kept"
    HIDDEN = "hidden"


class HiddenBy(StrEnum):
    REPORTS = "reports"
    MODERATOR = "moderator"


class ReportReason(StrEnum):
    MISINFORMATION = "misinformation"
    SPAM = "spam"
    HATE = "hate"
    PRIVACY = "privacy"
    SELF_HARM = "self_harm"
    OTHER = "other"


_FOR_LISTS: dict[str, Any] = {
    "postgresql_where": sa.text("root_id IS NULL"),
    "postgresql_include": ["user_id", "use_pseudonym", "hidden_by"],
}


def counter(comment: str | None = None) -> Mapped[int]:
    return mapped_column(sa.Integer, server_default=sa.text("0"), comment=comment)


class ForumCategory(Base):
    __tablename__ = "forum_categories"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    preference_tag: Mapped[str | None] = mapped_column(
        comment="broadcasts about its threads go to people with this preference tag; null: to all"
    )
    threads_count: Mapped[int] = counter("visible threads; hidden threads do not count")


class Post(Base, Created):
    """A thread, or a reply to a thread. A stub is a deleted reply that stays because it has replies."""

    __tablename__ = "posts"
    __personal__ = Personal(
        of=("user_id",),
        export=Rows(),
        erase=Custom("The author chose whether posts are deleted or lose the author's name; replies of others stay"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    root_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("posts.id", ondelete="CASCADE"), comment="the thread of a reply; null: the post is a thread"
    )
    parent_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("posts.id"), index=True, comment="the reply above; null: a thread, or a reply to the thread"
    )
    depth: Mapped[int] = mapped_column(
        sa.SmallInteger, server_default=sa.text("0"), comment="levels below the thread; 0 for a thread"
    )
    category_id: Mapped[int | None] = mapped_column(sa.ForeignKey("forum_categories.id"), comment="null for a reply")
    user_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id", ondelete="SET NULL"), comment="the author; null: a stub, or a deleted account"
    )
    title: Mapped[str | None] = mapped_column(comment="null for a reply")
    content: Mapped[str | None] = mapped_column(comment="null on a stub")
    use_pseudonym: Mapped[bool] = mapped_column(server_default=sa.false())
    image: Mapped[str | None] = mapped_column(comment="name in the media store")
    hidden_by: Mapped[str | None] = mapped_column(comment="reports or moderator; null: everybody sees the post")
    likes_count: Mapped[int] = counter()
    saves_count: Mapped[int] = counter()
    replies_count: Mapped[int] = counter("visible replies of a thread; hidden replies and stubs do not count")
    #: The author's last change. A like does not change this time.
    updated_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())

    __table_args__ = (
        # A list skips the threads of earlier pages in the index alone.
        sa.Index("ix_posts_threads", "id", **_FOR_LISTS),
        sa.Index("ix_posts_category_id", "category_id", "id", **_FOR_LISTS),
        sa.Index("ix_posts_root_id", "root_id", "id"),
        sa.Index("ix_posts_user_id", "user_id", "id"),
        sa.Index("ix_posts_created_at", "created_at"),
        trigrams("ix_posts_searched", "title", "content", where=sa.text("root_id IS NULL")),
        sa.CheckConstraint(f"depth BETWEEN 0 AND {MAX_DEPTH}", name="depth"),
        sa.CheckConstraint("(root_id IS NULL) = (title IS NOT NULL AND category_id IS NOT NULL)", name="thread"),
        # Each like or reply changes a counter. The free space lets the changed row stay in its page, so that PostgreSQL
        # need not update the indexes (HOT update).
        {"postgresql_with": {"fillfactor": 90}},
    )


class Mark(Base):
    """The like and the save of one person for one post.

    The row stays when both flags are false. Simultaneous requests therefore always lock the same row.
    """

    __tablename__ = "marks"
    __personal__ = Personal(
        of=("user_id",),
        export=Rows(),
        erase=Custom("The counters of liked and saved posts must be reduced at the same time"),
    )

    post_id: Mapped[int] = mapped_column(sa.ForeignKey("posts.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    is_liked: Mapped[bool] = mapped_column(server_default=sa.false())
    is_saved: Mapped[bool] = mapped_column(server_default=sa.false())

    __table_args__ = (sa.Index("ix_marks_user_id", "user_id", "post_id"),)


class Case(Base, Created):
    """A moderation case of one post. A report or a crisis phrase opens it."""

    __tablename__ = "cases"
    __personal__ = Personal(
        export=Custom("The owner is the author of the post"), erase=Custom("The owner is the author of the post")
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    post_id: Mapped[int] = mapped_column(sa.ForeignKey("posts.id", ondelete="CASCADE"), unique=True)
    state: Mapped[str] = mapped_column(server_default=CaseState.OPEN)
    is_urgent: Mapped[bool] = mapped_column(server_default=sa.false(), comment="true if somebody may be in danger")
    is_crisis: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="true if the author was shown crisis help; reports never hide such a post"
    )
    reason: Mapped[str | None] = mapped_column(comment="the moderator's reason for the latest decision")
    decided_at: Mapped[datetime | None]
    appeal: Mapped[str | None] = mapped_column(comment="the author's appeal; null after a decision")

    __table_args__ = (sa.Index("ix_cases_is_urgent", "is_urgent", "id"),)


class Report(Base, Created):
    __tablename__ = "reports"
    __personal__ = Personal(of=("reporter_id",), export=Rows(), erase=Detach(clears=("note",)))

    id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[int] = mapped_column(sa.ForeignKey("cases.id", ondelete="CASCADE"))
    reporter_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="SET NULL"))
    reason: Mapped[str]
    note: Mapped[str | None]

    __table_args__ = (
        sa.UniqueConstraint("case_id", "reporter_id"),
        sa.Index("ix_reports_reporter_id", "reporter_id", "id"),
    )


class Block(Base, Created):
    """A block: a reader no longer sees the posts of one author.

    A block covers either the posts under the author's name, or the posts under the author's pseudonym. A reader who
    blocks both has two independent rows. One block therefore never reveals the other identity.
    """

    __tablename__ = "blocks"
    __personal__ = Personal(
        of=("user_id", "blocked_id"),
        export=Custom("A blocked id reveals who is behind a pseudonym, and blocked people must not see their blocks"),
        erase=Delete(),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    blocked_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    use_pseudonym: Mapped[bool]
    shown_as: Mapped[str] = mapped_column(comment="the author name that the post showed")

    __table_args__ = (sa.UniqueConstraint("user_id", "blocked_id", "use_pseudonym"),)
