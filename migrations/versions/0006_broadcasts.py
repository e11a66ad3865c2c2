"""broadcasts"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "broadcasts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False, comment="forum_thread, article or video"),
        sa.Column("subject", sa.Text(), nullable=False, comment="what it tells of, as in forum_thread:5"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("preference_tag", sa.Text(), nullable=True, comment="people with this preference; null: everybody"),
        sa.Column("except_user_id", sa.BigInteger(), nullable=True, comment="who caused it"),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["except_user_id"], ["users.id"], name=op.f("fk_broadcasts_except_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_broadcasts")),
        sa.UniqueConstraint("subject", name=op.f("uq_broadcasts_subject")),
    )
    op.create_index(op.f("ix_broadcasts_starts_at"), "broadcasts", ["starts_at"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_broadcasts_starts_at"), table_name="broadcasts")
    op.drop_table("broadcasts")
