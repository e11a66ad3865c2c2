"""How people want to be reached."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "notification_settings",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("push", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("quiet_start", sa.Time(), nullable=True, comment="in the person's zone; may lie after quiet_end"),
        sa.Column("quiet_end", sa.Time(), nullable=True),
        sa.CheckConstraint(
            "(quiet_start IS NULL) = (quiet_end IS NULL)",
            name=op.f("ck_notification_settings_quiet_hours_have_two_ends"),
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notification_settings_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_notification_settings")),
    )


def downgrade() -> None:
    op.drop_table("notification_settings")
