"""Reminders that leave as one message: what is open of one person, and the links that tell of several."""

from __future__ import annotations

from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    # Without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_deliveries_beside")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_deliveries_beside ON deliveries (user_id, due_at) "
            "WHERE state IN ('pending', 'claimed') AND channel = 'messaging' AND occurrence_id IS NOT NULL"
        )
        op.execute("ALTER TABLE occurrences ADD COLUMN IF NOT EXISTS shared_links text[]")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_occurrences_shared_links")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_occurrences_shared_links ON occurrences USING gin (shared_links) "
            "WHERE shared_links IS NOT NULL"
        )
    op.execute(
        "COMMENT ON COLUMN occurrences.shared_links IS "
        "'SHA-256 of the tokens in the links, not its own, of messages that told of it beside others'"
    )


def downgrade() -> None:
    op.drop_index("ix_occurrences_shared_links", "occurrences")
    op.drop_column("occurrences", "shared_links")
    op.drop_index("ix_deliveries_beside", "deliveries")
