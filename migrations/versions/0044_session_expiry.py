"""Expiry time of a session. Before, it was computed from settings and roles at each use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"

BACKFILL = sa.text(
    """
UPDATE sessions s SET expires_at = CASE
    WHEN s.kind = 'superadmin' THEN s.created_at + make_interval(mins => 15)
    WHEN EXISTS (
        SELECT FROM user_roles u JOIN roles r ON r.id = u.role_id
        WHERE u.user_id = s.user_id AND r.name IN ('admin', 'superadmin')
    ) THEN least(
        s.created_at + make_interval(hours => 12), s.last_used_at + make_interval(mins => 30)
    )
    ELSE least(s.created_at + make_interval(days => 30), s.last_used_at + make_interval(days => 7))
END
"""
)


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # The previous version may still create sessions during the rollout, and they get this default. It is short,
        # because it also applies to sessions of administrators.
        op.execute(
            "ALTER TABLE sessions ADD COLUMN IF NOT EXISTS expires_at timestamptz NOT NULL"
            " DEFAULT now() + interval '1 hour'"
        )
        op.execute(
            "COMMENT ON COLUMN sessions.expires_at IS 'set at login and refresh; earlier when the person is promoted'"
        )
        op.execute("COMMENT ON COLUMN sessions.last_used_at IS 'login or latest refresh'")
        # Fill the column in a separate transaction. In the transaction of the ALTER, all queries of the table would
        # wait for its lock until the end.
        op.execute(BACKFILL)


def downgrade() -> None:
    op.drop_column("sessions", "expires_at")
    op.execute("COMMENT ON COLUMN sessions.last_used_at IS NULL")
