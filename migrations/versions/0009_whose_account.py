"""When a number changed and which one it was, and who registered themselves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

#: Only registration asks for a pseudonym; the audit log knows whom administrators added.
ADDED_BY_OTHERS = """
UPDATE users SET self_registered = false
WHERE nama_samaran IS NULL
   OR EXISTS (SELECT FROM audit_entries WHERE action = 'admin_created' AND subject = 'user:' || users.id)
"""


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "phone_changed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="since when the person has this number instead of another; null: it never changed",
        ),
    )
    op.add_column(
        "users",
        sa.Column(
            "phone_before",
            sa.Text(),
            nullable=True,
            comment="the number (E.164) before phone_changed_at; of changes within a day of each other the first's",
        ),
    )
    op.add_column(
        "users",
        sa.Column(
            "self_registered",
            sa.Boolean(),
            server_default=sa.true(),
            nullable=False,
            comment="whether nobody but the person sets their password; false: added by an administrator or operator",
        ),
    )
    op.execute(ADDED_BY_OTHERS)


def downgrade() -> None:
    op.drop_column("users", "self_registered")
    op.drop_column("users", "phone_before")
    op.drop_column("users", "phone_changed_at")
