"""Removal of the count of refusals, because only 404 and 410 delete a push subscription."""

from __future__ import annotations

from alembic import op

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    op.execute("ALTER TABLE push_subscriptions DROP COLUMN IF EXISTS refusals")


def downgrade() -> None:
    op.execute("ALTER TABLE push_subscriptions ADD COLUMN IF NOT EXISTS refusals integer NOT NULL DEFAULT 0")
