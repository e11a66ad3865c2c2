"""What device a session is of, by a plain name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column(
        "sessions",
        sa.Column("device", sa.Text(), nullable=True, comment="a plain name; null: begun before names were kept"),
    )


def downgrade() -> None:
    op.drop_column("sessions", "device")
