"""Tables of the forum: categories, threads, nested replies, likes and saves, and moderation.

The row of a post has counters of its likes, saves and replies. `app.forum.service.posts` defines the order of locks.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Custom, Delete, Detach, Personal, Rows
from app.core.database.session import Base, Created, trigrams

#: Maximum levels of replies. If somebody replies to a reply on the last level, the new reply gets the same level.
#: A deeper tree would be hard to read.
MAX_DEPTH = 20

ERASE_POSTS = Custom("The author chose whether posts are deleted or lose the author's name; replies of others stay")
ERASE_MARKS = Custom("The counters of liked and saved posts must be reduced at the same time")

#: Table setting that leaves 10% of each page free, because each like or reply changes a counter in the row of the post.
#: The changed row then stays in its page, and PostgreSQL need not update the indexes (HOT update).
SPACE_FOR_COUNTERS = {"postgresql_with": {"fillfactor": 90}}


def counter() -> Mapped[int]:
    return mapped_column(sa.Integer, server_default=sa.text("0"))


def hidden_reason() -> Mapped[str | None]:
    return mapped_column(comment="why it is hidden; null: everybody sees it")


def image_is_held() -> Mapped[bool]:
    return mapped_column(server_default=sa.false(), comment="the picture waits until a moderator has seen the post")


class Edited(Created):
    """Columns for two times: the creation, and the author's last change. A like does not change `updated_at`."""

    updated_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())


class ForumCategory(Base):
    __tablename__ = "forum_categories"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    preference_tag: Mapped[str | None] = mapped_column(
        comment="broadcasts about its threads go to people with this preference tag; null: to all"
    )
    threads_count: Mapped[int] = mapped_column(
        sa.Integer, server_default=sa.text("0"), comment="visible threads; hidden threads do not count"
    )


class ForumThread(Base, Edited):
    __tablename__ = "forum_threads"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=ERASE_POSTS)

    id: Mapped[int] = mapped_column(primary_key=True)
    category_id: Mapped[int] = mapped_column(sa.ForeignKey("forum_categories.id"))
    user_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id", ondelete="SET NULL"),
        comment="the author; null after the author's account was deleted",
    )
    title: Mapped[str]
    content: Mapped[str]
    use_pseudonym: Mapped[bool] = mapped_column(server_default=sa.false())
    image: Mapped[str | None] = mapped_column(comment="name in the media store")
    likes_count: Mapped[int] = counter()
    saves_count: Mapped[int] = counter()
    replies_count: Mapped[int] = mapped_column(
        sa.Integer,
        server_default=sa.text("0"),
        comment="visible replies; hidden replies and stubs of deleted replies do not count",
    )
    hidden_reason: Mapped[str | None] = hidden_reason()
    image_is_held: Mapped[bool] = image_is_held()
    notice_due_at: Mapped[datetime | None] = mapped_column(
        comment="unused; forum_reply_notices stores this for each person"
    )
    notice_reply_id: Mapped[int | None] = mapped_column(
        comment="unused; forum_reply_notices stores this for each person"
    )

    __table_args__ = (
        sa.Index("ix_forum_threads_category_id", "category_id", "id"),
        sa.Index("ix_forum_threads_user_id", "user_id", "id"),
        sa.Index("ix_forum_threads_created_at", "created_at"),
        trigrams("ix_forum_threads_searched", "title", "content"),
        SPACE_FOR_COUNTERS,
    )


class ForumReply(Base, Edited):
    __tablename__ = "forum_replies"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=ERASE_POSTS)

    id: Mapped[int] = mapped_column(primary_key=True)
    thread_id: Mapped[int] = mapped_column(sa.ForeignKey("forum_threads.id", ondelete="CASCADE"))
    parent_id: Mapped[int | None] = mapped_column(sa.ForeignKey("forum_replies.id"), index=True)
    depth: Mapped[int] = mapped_column(
        sa.SmallInteger, comment="levels below the thread; 1 for a reply to the thread itself"
    )
    user_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id", ondelete="SET NULL"), index=True, comment="the author; null on a stub"
    )
    content: Mapped[str | None] = mapped_column(comment="null on a stub")
    use_pseudonym: Mapped[bool] = mapped_column(server_default=sa.false())
    image: Mapped[str | None] = mapped_column(comment="name in the media store")
    is_deleted: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="true for a stub: a deleted reply that stays because it has replies"
    )
    likes_count: Mapped[int] = counter()
    saves_count: Mapped[int] = counter()
    hidden_reason: Mapped[str | None] = hidden_reason()
    image_is_held: Mapped[bool] = image_is_held()

    __table_args__ = (
        sa.Index("ix_forum_replies_thread_id", "thread_id", "id"),
        sa.Index("ix_forum_replies_created_at", "created_at"),
        sa.CheckConstraint(f"depth BETWEEN 1 AND {MAX_DEPTH}", name="depth"),
        sa.CheckConstraint("is_deleted = (content IS NULL)", name="stub"),
        SPACE_FOR_COUNTERS,
    )


class ReplyNotice(Base):
    """The latest message to a person about replies to the threads of this person.

    A person has one row for threads under their name, and one row for threads under their pseudonym (`by_alias`).
    With one shared row, a reply to a pseudonymous thread could delay a message about named threads. The delay would
    reveal who uses the pseudonym.
    """

    __tablename__ = "forum_reply_notices"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    by_alias: Mapped[bool] = mapped_column(primary_key=True)
    due_at: Mapped[datetime]
    first_id: Mapped[int]


class _Mark:
    """A mark: one row for one person and one post. Its two flags show whether the person has liked or saved the post.

    The row stays when both flags are false. Simultaneous requests therefore always lock the same row.
    """

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    is_liked: Mapped[bool] = mapped_column(server_default=sa.false())
    is_saved: Mapped[bool] = mapped_column(server_default=sa.false())


class ThreadMark(Base, _Mark):
    __tablename__ = "forum_thread_marks"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=ERASE_MARKS)

    thread_id: Mapped[int] = mapped_column(
        sa.ForeignKey("forum_threads.id", ondelete="CASCADE"), primary_key=True, sort_order=-1
    )

    __table_args__ = (sa.Index("ix_forum_thread_marks_user_id", "user_id", "thread_id"),)


class ReplyMark(Base, _Mark):
    __tablename__ = "forum_reply_marks"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=ERASE_MARKS)

    reply_id: Mapped[int] = mapped_column(
        sa.ForeignKey("forum_replies.id", ondelete="CASCADE"), primary_key=True, sort_order=-1
    )

    __table_args__ = (sa.Index("ix_forum_reply_marks_user_id", "user_id", "reply_id"),)


# --- moderation -----------------------------------------------------------------------------------------------------


class CaseState(StrEnum):
    #: The case waits for a moderator. After three reports, the post is hidden until the moderator decides.
    OPEN = "open"
    KEPT = "kept"
    HIDDEN = "hidden"
    #: A moderator or the author has deleted the post.
    DELETED = "deleted"


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


class ForumCase(Base, Created):
    """A moderation case of one post. A report, a crisis phrase or a moderator opens it. A post has at most one case."""

    __tablename__ = "forum_cases"
    __personal__ = Personal(
        of=("author_id",), export=Rows(), erase=Detach(clears=("title", "content", "use_pseudonym", "appeal"))
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    thread_id: Mapped[int] = mapped_column(
        comment="the reported thread, or the thread of the reported reply. "
        "No foreign key: the post may be deleted first"
    )
    reply_id: Mapped[int | None] = mapped_column(
        comment="the reported reply; null: the case is about the thread itself"
    )
    author_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="SET NULL"), index=True)
    state: Mapped[str] = mapped_column(server_default=CaseState.OPEN)
    is_urgent: Mapped[bool] = mapped_column(server_default=sa.false(), comment="true if somebody may be in danger")
    is_crisis: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="true if the author was shown crisis help; reports never hide such a post"
    )
    hidden_by: Mapped[str | None] = mapped_column(
        comment="reports or moderator, while the post is hidden; null while it is visible"
    )
    reason: Mapped[str | None] = mapped_column(comment="the moderator's reason for the latest decision")
    decided_at: Mapped[datetime | None]
    appeal: Mapped[str | None] = mapped_column(comment="text of the author's appeal")
    appealed_at: Mapped[datetime | None]
    unmasked_at: Mapped[datetime | None] = mapped_column(
        comment="when a moderator revealed the author behind the pseudonym"
    )
    title: Mapped[str | None] = mapped_column(
        comment="title, content and use_pseudonym are copies from when a moderator deleted the post"
    )
    content: Mapped[str | None]
    use_pseudonym: Mapped[bool | None]

    __table_args__ = (
        sa.Index("uq_forum_cases_thread_id", "thread_id", unique=True, postgresql_where=sa.text("reply_id IS NULL")),
        sa.Index("uq_forum_cases_reply_id", "reply_id", unique=True, postgresql_where=sa.text("reply_id IS NOT NULL")),
        sa.Index("ix_forum_cases_thread_id", "thread_id"),
        sa.Index("ix_forum_cases_is_urgent", "is_urgent", "id"),
    )


class ForumReport(Base, Created):
    __tablename__ = "forum_reports"
    __personal__ = Personal(
        of=("reporter_id",),
        # The export omits `kept_at`. This column would show reporters whether moderators consider their reports false.
        export=Rows(without=("kept_at",)),
        erase=Detach(clears=("note",)),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[int] = mapped_column(sa.ForeignKey("forum_cases.id", ondelete="CASCADE"))
    reporter_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="SET NULL"))
    reason: Mapped[str]
    note: Mapped[str | None]
    kept_at: Mapped[datetime | None] = mapped_column(
        comment="when a moderator decided to keep the post and so rejected the report"
    )

    __table_args__ = (
        sa.UniqueConstraint("case_id", "reporter_id"),
        sa.Index("ix_forum_reports_reporter_id", "reporter_id", "id"),
    )


class ForumBlock(Base):
    """A block: a reader no longer sees the posts of one author.

    A block covers either the posts under the author's name, or the posts under the author's pseudonym. A reader who
    blocks both has two independent rows. One block therefore never reveals the other identity.
    """

    __tablename__ = "forum_blocks"
    __personal__ = Personal(
        of=("user_id", "blocked_id"),
        export=Custom("A blocked id reveals who is behind a pseudonym, and blocked people must not see their blocks"),
        erase=Delete(),
    )

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    blocked_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    use_pseudonym: Mapped[bool] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(
        sa.Identity(),
        unique=True,
        comment="names the block in the list of own blocks, because blocked_id could reveal who uses a pseudonym",
    )
    created_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    shown_as: Mapped[str | None] = mapped_column(
        comment="the author name that the post showed; null: blocked before this column existed"
    )


class PhraseKind(StrEnum):
    #: The phrase shows that a person wants to die.
    CRISIS = "crisis"
    #: The phrase shows that a person needs an ambulance. The chat reacts to the phrase with an automatic reply. The
    #: forum ignores the phrase.
    EMERGENCY = "emergency"


class CrisisPhrase(Base, Created):
    """A phrase which shows that a person wants to die or needs an ambulance.

    `app.forum.service.crisis_matcher` searches texts for these phrases.
    """

    __tablename__ = "crisis_phrases"

    id: Mapped[int] = mapped_column(primary_key=True)
    phrase: Mapped[str]
    words: Mapped[str] = mapped_column(
        unique=True, comment="the phrase, normalised as posts are before they are compared with it"
    )
    kind: Mapped[str] = mapped_column(server_default=PhraseKind.CRISIS)
