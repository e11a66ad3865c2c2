"""What people agreed to, for which purpose, and what they said before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "consents",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False, comment="of the text that was agreed to"),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="null: it still holds"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_consents_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consents")),
    )
    op.create_index("ix_consents_user_id", "consents", ["user_id"])
    op.create_index(
        "uq_consents_present", "consents", ["user_id", "purpose"], unique=True, postgresql_where="ended_at IS NULL"
    )
    op.create_index(
        "ix_consents_withdrawn",
        "consents",
        ["purpose", "created_at"],
        postgresql_where="ended_at IS NULL AND NOT granted",
    )


def downgrade() -> None:
    op.drop_table("consents")
