"""Removal of known login networks and of the sizes of pictures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"


def upgrade() -> None:
    op.execute("DROP TABLE IF EXISTS login_networks")
    op.execute("ALTER TABLE own_pictures DROP COLUMN IF EXISTS bytes")


def downgrade() -> None:
    op.add_column("own_pictures", sa.Column("bytes", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "login_networks",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("network_hash", sa.Text(), nullable=False),
        sa.Column("last_login_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_login_networks_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "network_hash", name="pk_login_networks"),
    )
    op.create_index("ix_login_networks_last_login_at", "login_networks", ["last_login_at"])
