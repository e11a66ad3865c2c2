"""The index of the messages that were settled lately."""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    # Without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_deliveries_settled")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_deliveries_settled ON deliveries (queue, settled_at) "
            "WHERE channel = 'messaging' AND settled_at IS NOT NULL"
        )


def downgrade() -> None:
    op.drop_index("ix_deliveries_settled", "deliveries")
