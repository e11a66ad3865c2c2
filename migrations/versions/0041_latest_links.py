"""An index by which the latest links between caregivers and patients are found without sorting them all."""

from __future__ import annotations

from alembic import op

revision = "0041"
down_revision = "0040"

NAME, TABLE = "ix_caregiver_links_created_at", "caregiver_links"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for other transactions here makes nobody wait.
        op.execute("SET lock_timeout = 0")
        # What an upgrade that was ended in its middle has left.
        op.drop_index(NAME, table_name=TABLE, if_exists=True, postgresql_concurrently=True)
        op.create_index(NAME, TABLE, ["created_at", "id"], postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.drop_index(NAME, table_name=TABLE)
