"""Removal of `occurrences.alerts_due`: the code that marks occurrences (due times) as missed now creates the alerts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.drop_column("occurrences", "alerts_due")


def downgrade() -> None:
    op.add_column(
        "occurrences",
        sa.Column(
            "alerts_due",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="missed, and the caregivers who may hear of it have no alert yet",
        ),
    )
    op.create_index("ix_occurrences_alerts_due", "occurrences", ["due_at"], postgresql_where=sa.text("alerts_due"))
