"""What is left of a medicine: when that is looked at, what was told of it, and what each dose took."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

INDEX = "ix_reminders_stock_check_at"


def upgrade() -> None:
    # First what may take long, without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE reminders ADD COLUMN IF NOT EXISTS stock_check_at timestamptz")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX} ON reminders (stock_check_at) WHERE stock_check_at IS NOT NULL")
    op.execute(
        "COMMENT ON COLUMN reminders.stock_check_at IS "
        "'when it is looked at next whether a medicine runs out; null: nobody counts it'"
    )
    op.add_column(
        "reminders",
        sa.Column(
            "stock_told",
            sa.SmallInteger(),
            nullable=True,
            comment="of how few days left the person has been told, at the least",
        ),
    )
    op.add_column(
        "occurrences",
        sa.Column(
            "taken", sa.Double(), nullable=True, comment="of a dose that is done: how much went out of the stock"
        ),
    )


def downgrade() -> None:
    op.drop_column("occurrences", "taken")
    op.drop_column("reminders", "stock_told")
    op.drop_index(INDEX, "reminders")
    op.drop_column("reminders", "stock_check_at")
