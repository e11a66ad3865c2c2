"""How often the outcome of a delivery's call is unknown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column(
        "deliveries",
        sa.Column(
            "unknowns",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="calls that may have reached the provider and whose outcome nobody knows, the present one included",
        ),
    )


def downgrade() -> None:
    op.drop_column("deliveries", "unknowns")
