"""forum"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "forum_categories",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column(
            "preference_tag",
            sa.Text(),
            nullable=True,
            comment="broadcasts of its threads go to people with this tag; null: to all",
        ),
        sa.Column("threads_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forum_categories")),
        sa.UniqueConstraint("name", name=op.f("uq_forum_categories_name")),
    )
    op.create_table(
        "forum_threads",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("category_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True, comment="the author; null once their account is gone"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("use_pseudonym", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column("likes_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("saves_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "replies_count",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="stubs of deleted replies do not count",
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["category_id"], ["forum_categories.id"], name=op.f("fk_forum_threads_category_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_forum_threads_user_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forum_threads")),
    )
    op.create_index("ix_forum_threads_category_id", "forum_threads", ["category_id", "id"], unique=False)
    op.create_index("ix_forum_threads_created_at", "forum_threads", ["created_at"], unique=False)
    op.create_index("ix_forum_threads_user_id", "forum_threads", ["user_id", "id"], unique=False)
    op.create_table(
        "forum_replies",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("thread_id", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.BigInteger(), nullable=True),
        sa.Column("depth", sa.SmallInteger(), nullable=False, comment="1 for a reply to the thread itself"),
        sa.Column("user_id", sa.BigInteger(), nullable=True, comment="the author; null on a stub"),
        sa.Column("content", sa.Text(), nullable=True, comment="null on a stub"),
        sa.Column("use_pseudonym", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column(
            "is_deleted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="a stub, which holds the replies below it",
        ),
        sa.Column("likes_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("saves_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("depth BETWEEN 1 AND 20", name=op.f("ck_forum_replies_depth")),
        sa.CheckConstraint("is_deleted = (content IS NULL)", name=op.f("ck_forum_replies_stub")),
        sa.ForeignKeyConstraint(["parent_id"], ["forum_replies.id"], name=op.f("fk_forum_replies_parent_id")),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["forum_threads.id"], name=op.f("fk_forum_replies_thread_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_forum_replies_user_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forum_replies")),
    )
    op.create_index("ix_forum_replies_created_at", "forum_replies", ["created_at"], unique=False)
    op.create_index(op.f("ix_forum_replies_parent_id"), "forum_replies", ["parent_id"], unique=False)
    op.create_index("ix_forum_replies_thread_id", "forum_replies", ["thread_id", "id"], unique=False)
    op.create_index(op.f("ix_forum_replies_user_id"), "forum_replies", ["user_id"], unique=False)
    op.create_table(
        "forum_thread_marks",
        sa.Column("thread_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("is_liked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_saved", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["forum_threads.id"], name=op.f("fk_forum_thread_marks_thread_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_forum_thread_marks_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread_id", "user_id", name=op.f("pk_forum_thread_marks")),
    )
    op.create_index("ix_forum_thread_marks_user_id", "forum_thread_marks", ["user_id", "thread_id"], unique=False)
    op.create_table(
        "forum_reply_marks",
        sa.Column("reply_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("is_liked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_saved", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["reply_id"], ["forum_replies.id"], name=op.f("fk_forum_reply_marks_reply_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_forum_reply_marks_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("reply_id", "user_id", name=op.f("pk_forum_reply_marks")),
    )
    op.create_index("ix_forum_reply_marks_user_id", "forum_reply_marks", ["user_id", "reply_id"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_forum_reply_marks_user_id", table_name="forum_reply_marks")
    op.drop_table("forum_reply_marks")
    op.drop_index("ix_forum_thread_marks_user_id", table_name="forum_thread_marks")
    op.drop_table("forum_thread_marks")
    op.drop_index(op.f("ix_forum_replies_user_id"), table_name="forum_replies")
    op.drop_index("ix_forum_replies_thread_id", table_name="forum_replies")
    op.drop_index(op.f("ix_forum_replies_parent_id"), table_name="forum_replies")
    op.drop_index("ix_forum_replies_created_at", table_name="forum_replies")
    op.drop_table("forum_replies")
    op.drop_index("ix_forum_threads_user_id", table_name="forum_threads")
    op.drop_index("ix_forum_threads_created_at", table_name="forum_threads")
    op.drop_index("ix_forum_threads_category_id", table_name="forum_threads")
    op.drop_table("forum_threads")
    op.drop_table("forum_categories")
