"""What holds broadcasts back: the provider's limit, the youth of a number, people who do not want to hear."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"

PACE = (
    sa.Column("pause_reason", sa.Text(), nullable=True, comment="why they paused by themselves"),
    sa.Column(
        "resumed_at",
        sa.DateTime(timezone=True),
        nullable=True,
        comment="what happened before speaks for no pause any more",
    ),
    sa.Column(
        "budget",
        sa.Integer(),
        nullable=True,
        comment="messages that may leave until this is counted anew, within a minute; null: any number",
    ),
)
SENDERS = (
    sa.Column(
        "warmup_days", sa.SmallInteger(), nullable=True, comment="good days of a number that is new; null: it is not"
    ),
    sa.Column("warmup_on", sa.Date(), nullable=True, comment="the last day on which it wrote to new people"),
    sa.Column(
        "new_people",
        sa.Integer(),
        server_default=sa.text("0"),
        nullable=False,
        comment="to how many of them on that day",
    ),
)


def upgrade() -> None:
    for column in PACE:
        op.add_column("broadcast_pace", column)
    for column in SENDERS:
        op.add_column("senders", column)


def downgrade() -> None:
    for column in SENDERS:
        op.drop_column("senders", column.name)
    for column in PACE:
        op.drop_column("broadcast_pace", column.name)
