"""When the author of a thread was last told of replies, so that one message tells of many."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column(
        "forum_threads",
        sa.Column(
            "notice_due_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="of the latest message to the author about replies",
        ),
    )
    op.add_column(
        "forum_threads",
        sa.Column(
            "notice_reply_id", sa.BigInteger(), nullable=True, comment="the first reply that this message tells of"
        ),
    )


def downgrade() -> None:
    op.drop_column("forum_threads", "notice_reply_id")
    op.drop_column("forum_threads", "notice_due_at")
