"""Time at which an answer to a reminder reached the service."""

from __future__ import annotations

from alembic import op

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    op.execute("ALTER TABLE occurrences ADD COLUMN IF NOT EXISTS recorded_at timestamptz")
    op.execute(
        "COMMENT ON COLUMN occurrences.recorded_at IS"
        " 'when the latest answer came, after answered_at if it was given offline; null: at answered_at'"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE occurrences DROP COLUMN recorded_at")
