"""A broadcast has no text any more: what it says is read when each message leaves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    op.drop_column("broadcasts", "text")


def downgrade() -> None:
    op.add_column("broadcasts", sa.Column("text", sa.Text(), nullable=False, server_default=""))
    op.alter_column("broadcasts", "text", server_default=None)
