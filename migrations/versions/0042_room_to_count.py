"""Room on each new page of the forum's posts for their next counts: the indexes need not learn of those."""

from __future__ import annotations

from alembic import op

revision = "0042"
down_revision = "0041"

TABLES = ("forum_threads", "forum_replies")


def upgrade() -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} SET (fillfactor = 90)")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} RESET (fillfactor)")
