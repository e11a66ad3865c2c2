"""The session that made a push subscription, an invitation or a proof of a number. Its end deletes the row."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

TABLES = ("push_subscriptions", "invitations", "phone_verifications")
COMMENT = "the session that made the row, and whose end deletes it; null: no session did, or it was not noted"


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("session_id", sa.Uuid(), nullable=True, comment=COMMENT))
        # The column is empty, so the key is checked and the index built in no time.
        op.create_foreign_key(
            op.f(f"fk_{table}_session_id"), table, "sessions", ["session_id"], ["id"], ondelete="CASCADE"
        )
        op.create_index(op.f(f"ix_{table}_session_id"), table, ["session_id"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "session_id")
