"""Index of suspects: claimed deliveries, and pending deliveries that a worker had claimed before it died."""

from __future__ import annotations

from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    _replace(
        "ix_deliveries_claimed",
        "ix_deliveries_suspects",
        "state IN ('pending', 'claimed') AND (state = 'claimed' OR deaths > 0)",
    )


def downgrade() -> None:
    _replace("ix_deliveries_suspects", "ix_deliveries_claimed", "state = 'claimed'")


def _replace(old: str, new: str, where: str) -> None:
    """Create the new index concurrently. First drop an incomplete one."""
    with op.get_context().autocommit_block():
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {new}")
        op.execute(f"CREATE INDEX CONCURRENTLY {new} ON deliveries (queue, channel, next_try_at) WHERE {where}")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {old}")
