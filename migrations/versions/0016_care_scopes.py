"""What a patient allows a caregiver. Nothing, on the links that are there: they show a name, as they did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column(
        "caregiver_links",
        sa.Column(
            "scopes",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="what the patient allows: alerts, history, manage",
        ),
    )


def downgrade() -> None:
    op.drop_column("caregiver_links", "scopes")
