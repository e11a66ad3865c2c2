"""Who looked at what of whom: of one person, and of many at once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "access_log",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False, comment="whose data it was"),
        sa.Column("actor_id", sa.BigInteger(), nullable=True, comment="who looked; null: gone, or the operator"),
        sa.Column(
            "actor_role", sa.Text(), nullable=True, comment="as what they looked; null: the operator, by a command"
        ),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True, comment="as the one who looked wrote it"),
        sa.Column(
            "day", sa.Date(), nullable=True, comment="of Jakarta, of what is noted once a day; null: noted each time"
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_access_log_user_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_access_log_actor_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_log")),
    )
    op.create_index("ix_access_log_user_id", "access_log", ["user_id", "id"])
    op.create_index("ix_access_log_actor_id", "access_log", ["actor_id"])
    op.create_index(
        "uq_access_log_day",
        "access_log",
        ["user_id", "action", "day"],
        unique=True,
        postgresql_where=sa.text("day IS NOT NULL"),
    )
    op.create_table(
        "bulk_accesses",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("actor_role", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("covers", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("day", sa.Date(), nullable=False, comment="of Jakarta"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bulk_accesses")),
        sa.UniqueConstraint(
            "day",
            "action",
            "actor_role",
            "covers",
            "since",
            "until",
            name=op.f("uq_bulk_accesses_day_action_actor_role_covers_since_until"),
            postgresql_nulls_not_distinct=True,
        ),
    )


def downgrade() -> None:
    op.drop_table("bulk_accesses")
    op.drop_table("access_log")
