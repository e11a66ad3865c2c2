"""Indexes by which a claim finds what it may take and nothing else, however much is open."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

CLAIMED, SUBJECT, NEW = "ix_deliveries_claimed", "ix_deliveries_subject", "ix_deliveries_subject_new"
IS_OPEN = "state IN ('pending', 'claimed')"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for other transactions here makes nobody wait.
        op.execute("SET lock_timeout = 0")
        # What an upgrade that was ended in its middle has left.
        _drop(CLAIMED)
        _create(CLAIMED, ["queue", "channel", "next_try_at"], "state = 'claimed'")
        op.execute("RESET lock_timeout")
    _replace_subject(f"{IS_OPEN} AND subject IS NOT NULL")


def downgrade() -> None:
    _replace_subject(IS_OPEN)
    op.drop_index(CLAIMED, table_name="deliveries")


def _replace_subject(where: str) -> None:
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        _drop(NEW)
        _create(NEW, ["subject"], where)
        op.execute("RESET lock_timeout")
    op.drop_index(SUBJECT, table_name="deliveries")
    op.execute(f"ALTER INDEX {NEW} RENAME TO {SUBJECT}")


def _create(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "deliveries", columns, postgresql_concurrently=True, postgresql_where=sa.text(where))


def _drop(name: str) -> None:
    op.drop_index(name, table_name="deliveries", if_exists=True, postgresql_concurrently=True)
