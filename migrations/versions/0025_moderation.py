"""Moderation of the forum: hidden posts, cases, reports, blocks and the phrases of crises."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

HIDDEN = "why a moderator hid it; null: everybody sees it"
COPY = "as it was when a moderator deleted the post; so are the next two"


def created_at() -> sa.Column[object]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    for table in ("forum_threads", "forum_replies"):
        op.add_column(table, sa.Column("hidden_reason", sa.Text(), nullable=True, comment=HIDDEN))
    _comment("forum_threads", "replies_count", "neither stubs of deleted replies nor hidden ones count")
    _comment("forum_categories", "threads_count", "hidden ones do not count")
    op.create_table(
        "forum_cases",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column(
            "thread_id",
            sa.BigInteger(),
            nullable=False,
            comment="the post, or the thread that it replies to. No foreign key: the case outlives the post",
        ),
        sa.Column("reply_id", sa.BigInteger(), nullable=True, comment="null: it is about the thread itself"),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column(
            "is_urgent",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="somebody may be in danger",
        ),
        sa.Column("reason", sa.Text(), nullable=True, comment="of the latest decision"),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("appeal", sa.Text(), nullable=True, comment="what the author says against it"),
        sa.Column("appealed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "unmasked_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the author's pseudonym was lifted",
        ),
        sa.Column("title", sa.Text(), nullable=True, comment=COPY),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("use_pseudonym", sa.Boolean(), nullable=True),
        created_at(),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name=op.f("fk_forum_cases_author_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forum_cases")),
    )
    for name, column, rule in (
        ("uq_forum_cases_thread_id", "thread_id", "reply_id IS NULL"),
        ("uq_forum_cases_reply_id", "reply_id", "reply_id IS NOT NULL"),
    ):
        op.create_index(name, "forum_cases", [column], unique=True, postgresql_where=sa.text(rule))
    op.create_index("ix_forum_cases_thread_id", "forum_cases", ["thread_id"])
    op.create_index("ix_forum_cases_author_id", "forum_cases", ["author_id"])
    op.create_index("ix_forum_cases_is_urgent", "forum_cases", ["is_urgent", "id"])
    op.create_table(
        "forum_reports",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("case_id", sa.BigInteger(), nullable=False),
        sa.Column("reporter_id", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        created_at(),
        sa.ForeignKeyConstraint(
            ["case_id"], ["forum_cases.id"], name=op.f("fk_forum_reports_case_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["reporter_id"], ["users.id"], name=op.f("fk_forum_reports_reporter_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forum_reports")),
        sa.UniqueConstraint("case_id", "reporter_id", name=op.f("uq_forum_reports_case_id_reporter_id")),
    )
    op.create_index("ix_forum_reports_reporter_id", "forum_reports", ["reporter_id", "id"])
    op.create_table(
        "forum_blocks",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("blocked_id", sa.BigInteger(), nullable=False),
        sa.Column("use_pseudonym", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_forum_blocks_user_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["blocked_id"], ["users.id"], name=op.f("fk_forum_blocks_blocked_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "blocked_id", "use_pseudonym", name=op.f("pk_forum_blocks")),
    )
    op.create_index("ix_forum_blocks_blocked_id", "forum_blocks", ["blocked_id"])
    op.create_table(
        "crisis_phrases",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("phrase", sa.Text(), nullable=False),
        sa.Column(
            "words",
            sa.Text(),
            nullable=False,
            comment="the phrase in the one spelling that posts are compared in",
        ),
        created_at(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crisis_phrases")),
        sa.UniqueConstraint("words", name=op.f("uq_crisis_phrases_words")),
    )


def downgrade() -> None:
    for table in ("crisis_phrases", "forum_blocks", "forum_reports", "forum_cases"):
        op.drop_table(table)
    _comment("forum_categories", "threads_count", None)
    _comment("forum_threads", "replies_count", "stubs of deleted replies do not count")
    for table in ("forum_replies", "forum_threads"):
        op.drop_column(table, "hidden_reason")


def _comment(table: str, column: str, comment: str | None) -> None:
    op.alter_column(table, column, existing_type=sa.Integer(), comment=comment)
