"""The outbox."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False, comment="one effect, one key, however often it is added"),
        sa.Column("queue", sa.Text(), nullable=False, comment="urgent or bulk: whose drain sends it"),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column(
            "kind", sa.Text(), nullable=False, comment="what it is about: password_reset, reminder, broadcast, ..."
        ),
        sa.Column("subject", sa.Text(), nullable=True, comment="what it belongs to and is cancelled with"),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column(
            "target",
            sa.Text(),
            nullable=True,
            comment="E.164 number or subscription id; null: wherever the person is reached when it is sent",
        ),
        sa.Column(
            "payload",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="emptied in production once settled",
        ),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="not sent by then, it is missed"),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "deaths",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="attempts whose worker was never heard of again",
        ),
        sa.Column(
            "next_try_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="nobody touches it before; the end of a claim's lease",
        ),
        sa.Column("claim_token", sa.Uuid(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("provider_ref", sa.Text(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_deliveries_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("dedupe_key", name=op.f("uq_deliveries_dedupe_key")),
    )
    op.create_index("ix_deliveries_created_at", "deliveries", ["created_at"], unique=False)
    op.create_index(
        "ix_deliveries_open",
        "deliveries",
        ["queue", "channel", "next_try_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('pending', 'claimed')"),
    )
    op.create_index(
        "ix_deliveries_subject",
        "deliveries",
        ["subject"],
        unique=False,
        postgresql_where=sa.text("state IN ('pending', 'claimed')"),
    )
    op.create_index(op.f("ix_deliveries_user_id"), "deliveries", ["user_id"], unique=False)

    # Its rows change state several times and its index leads with the oldest: dead entries must go soon.
    op.execute("ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)")


def downgrade() -> None:
    op.drop_index(op.f("ix_deliveries_user_id"), table_name="deliveries")
    op.drop_index(
        "ix_deliveries_subject", table_name="deliveries", postgresql_where=sa.text("state IN ('pending', 'claimed')")
    )
    op.drop_index(
        "ix_deliveries_open", table_name="deliveries", postgresql_where=sa.text("state IN ('pending', 'claimed')")
    )
    op.drop_index("ix_deliveries_created_at", table_name="deliveries")
    op.drop_table("deliveries")
