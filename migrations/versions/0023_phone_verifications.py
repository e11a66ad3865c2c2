"""Whose number it is: when it was proven, and the proofs that are open. None of those that are there is proven yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "phone_verified_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the person showed that the number is theirs; null: not yet, or it has changed since",
        ),
    )
    op.create_table(
        "phone_verifications",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("nomor_hp", sa.Text(), nullable=False, comment="as sent"),
        sa.Column("phone", sa.Text(), nullable=False, comment="nomor_hp in E.164"),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_phone_verifications_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "method", name=op.f("pk_phone_verifications")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_phone_verifications_code_hash")),
    )
    op.create_index(op.f("ix_phone_verifications_expires_at"), "phone_verifications", ["expires_at"])


def downgrade() -> None:
    op.drop_table("phone_verifications")
    op.drop_column("users", "phone_verified_at")
