"""Whose the pictures in profiles and the forum are, and how large. Those stored before count for nobody."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "own_pictures",
        sa.Column("name", sa.Text(), nullable=False, comment="in the media store"),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False, comment="as stored"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_own_pictures_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_own_pictures")),
    )
    op.create_index(op.f("ix_own_pictures_user_id"), "own_pictures", ["user_id"], unique=False)


def downgrade() -> None:
    op.drop_table("own_pictures")
