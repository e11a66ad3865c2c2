"""Indexes by which an erasure finds its rows. Each is built while the table goes on being written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

#: By name: the table, the column, and which rows.
INDEXES = {
    "ix_users_erasure_due_at": ("users", "erasure_due_at", "erasure_due_at IS NOT NULL"),
    "ix_deliveries_target": ("deliveries", "target", "user_id IS NULL"),
    "ix_audit_entries_subject": ("audit_entries", "subject", None),
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for other transactions here makes nobody wait.
        op.execute("SET lock_timeout = 0")
        for name, (table, column, which) in INDEXES.items():
            # What an upgrade that was ended in its middle has left is there, and invalid.
            op.drop_index(name, table_name=table, if_exists=True, postgresql_concurrently=True)
            where = sa.text(which) if which else None
            op.create_index(name, table, [column], postgresql_concurrently=True, postgresql_where=where)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        for name, (table, *_) in INDEXES.items():
            op.drop_index(name, table_name=table, if_exists=True, postgresql_concurrently=True)
