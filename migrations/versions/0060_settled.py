"""Index of settled deliveries of all channels, for the deliveries of the last hour."""

from __future__ import annotations

from alembic import op

revision = "0060"
down_revision = "0059"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_deliveries_settled")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_deliveries_settled ON deliveries (queue, settled_at)"
            " WHERE settled_at IS NOT NULL"
        )


def downgrade() -> None:
    op.execute("DROP INDEX ix_deliveries_settled")
    op.execute(
        "CREATE INDEX ix_deliveries_settled ON deliveries (queue, settled_at)"
        " WHERE channel = 'messaging' AND settled_at IS NOT NULL"
    )
