"""How the numbers are that messages come from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "senders",
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column(
            "number",
            sa.Text(),
            nullable=False,
            comment="of WhatsApp the phone number id, of Fonnte MESSAGING_NUMBER; empty: nobody told",
        ),
        sa.Column("state", sa.Text(), server_default="up", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True, comment="why it is not up, in the provider's words"),
        sa.Column(
            "since",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="in this state",
        ),
        sa.Column("quality", sa.Text(), nullable=True, comment="green, yellow or red: what recipients think of it"),
        sa.Column(
            "limit_24h",
            sa.Integer(),
            nullable=True,
            comment="different people that may be written to in 24 hours; null: unlimited or unknown",
        ),
        sa.Column("quota", sa.Integer(), nullable=True, comment="messages that are paid for"),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True, comment="when the provider last told"),
        sa.Column(
            "needs_trial",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="of one that is down: only a message that is taken shows that it is over",
        ),
        sa.Column(
            "trial_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="of one that is down: when one message may try whether it is still",
        ),
        sa.Column(
            "held_since",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="of a phone that is disconnected: from when on the provider may hold what it accepted",
        ),
        sa.PrimaryKeyConstraint("provider", "number", name=op.f("pk_senders")),
    )


def downgrade() -> None:
    op.drop_table("senders")
