"""What comes back from the messaging providers, and the furthest receipt of each delivery."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

#: Columns that say nothing yet cost no rewrite of the table.
RECEIPT = {
    "receipt": ("text", "accepted, sent, failed, delivered or read: the furthest that the provider told"),
    "receipt_at": ("timestamp with time zone", "the provider''s own time of it"),
    "receipt_code": ("text", "why it failed, in the provider''s code"),
    "provider_state_ref": ("text", "by which later receipts name the message; provider_ref when null"),
}


def upgrade() -> None:
    # First what may take long, without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        for name, (kind, comment) in RECEIPT.items():
            op.execute(f"ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS {name} {kind}")
            op.execute(f"COMMENT ON COLUMN deliveries.{name} IS '{comment}'")
        for name in ("provider_ref", "provider_state_ref"):
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS ix_deliveries_{name}")
            op.execute(
                f"CREATE INDEX CONCURRENTLY ix_deliveries_{name} ON deliveries ({name}) WHERE {name} IS NOT NULL"
            )
    op.create_table(
        "inbound",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("event_key", sa.Text(), nullable=False, comment="one event, one key, however often it is told"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=True, comment="E.164: who wrote, or whom a receipt is about"),
        sa.Column("text", sa.Text(), nullable=True, comment="what a person wrote; emptied after 30 days"),
        sa.Column("ref", sa.Text(), nullable=True, comment="the provider's name of the message that it is about"),
        sa.Column(
            "payload",
            sa.dialects.postgresql.JSONB(),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
            comment="what else its handler needs; no text of a person",
        ),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("handled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True, comment="what was done; 'answered:...' when we wrote back"),
        sa.CheckConstraint("length(text) <= 1000", name=op.f("ck_inbound_text_is_short")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbound")),
        sa.UniqueConstraint("event_key", name=op.f("uq_inbound_event_key")),
    )
    op.create_index("ix_inbound_open", "inbound", ["kind", "id"], postgresql_where=sa.text("handled_at IS NULL"))
    wrote = sa.text("kind = 'message'")
    op.create_index("ix_inbound_phone", "inbound", ["phone", "received_at"], postgresql_where=wrote)
    op.create_index("ix_inbound_received_at", "inbound", ["received_at"], postgresql_using="brin")


def downgrade() -> None:
    op.drop_table("inbound")
    for name in ("provider_ref", "provider_state_ref"):
        op.drop_index(f"ix_deliveries_{name}", "deliveries")
    for name in RECEIPT:
        op.drop_column("deliveries", name)
