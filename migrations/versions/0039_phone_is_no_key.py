"""A number that is no key of its row: a change of it waits no more for what is added about the person meanwhile."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

NAME, NEW = "uq_users_phone", "uq_users_phone_new"


def upgrade() -> None:
    _replace_by(sa.text("phone IS NOT NULL"))


def downgrade() -> None:
    _replace_by(None)


def _replace_by(where: sa.TextClause | None) -> None:
    """Numbers are unique at every moment, and the index that says so has its name, by which the service knows it."""
    with op.get_context().autocommit_block():
        # Waiting for other transactions here makes nobody wait.
        op.execute("SET lock_timeout = 0")
        # What an upgrade that was ended in its middle has left.
        op.drop_index(NEW, table_name="users", if_exists=True, postgresql_concurrently=True)
        op.create_index(NEW, "users", ["phone"], unique=True, postgresql_concurrently=True, postgresql_where=where)
        op.execute("RESET lock_timeout")
    op.drop_index(NAME, table_name="users")
    op.execute(f"ALTER INDEX {NEW} RENAME TO {NAME}")
