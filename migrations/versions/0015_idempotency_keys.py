"""Creates that can be sent again: their keys and what was answered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("user_id", sa.BigInteger, primary_key=True),
        sa.Column("endpoint", sa.String(120), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("fingerprint", sa.LargeBinary(32), nullable=False, comment="SHA-256 of what was asked"),
        sa.Column("status", sa.SmallInteger, comment="null while the create is under way"),
        sa.Column("body", sa.LargeBinary),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])


def downgrade() -> None:
    op.drop_table("idempotency_keys")
