"""Columns for encrypted texts that are stored nowhere else (such as reset links), and for sent texts in development."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    op.alter_column(
        "deliveries",
        "payload",
        server_default="{}",
        comment="small values that its words are made of; no text of a person",
        existing_comment="emptied in production once settled",
    )
    op.add_column(
        "deliveries",
        sa.Column(
            "sealed",
            sa.Text(),
            comment="words that exist only once, as a reset link: encrypted, and dropped once settled",
        ),
    )
    op.add_column("deliveries", sa.Column("said", JSONB(), comment="what was sent; in development alone"))
    op.create_index(
        "ix_deliveries_sealed", "deliveries", ["settled_at"], postgresql_where=sa.text("sealed IS NOT NULL")
    )


def downgrade() -> None:
    op.drop_column("deliveries", "said")
    op.drop_column("deliveries", "sealed")
    op.alter_column(
        "deliveries",
        "payload",
        server_default=None,
        comment="emptied in production once settled",
        existing_comment="small values that its words are made of; no text of a person",
    )
