"""What caregivers are told of missed doses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

INDEX = "ix_occurrences_alerts_due"


def upgrade() -> None:
    # First what may take long, without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE occurrences ADD COLUMN IF NOT EXISTS alerts_due boolean DEFAULT false NOT NULL")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX} ON occurrences (due_at) WHERE alerts_due")
    op.execute(
        "COMMENT ON COLUMN occurrences.alerts_due IS 'missed, and the caregivers who may hear of it have no alert yet'"
    )
    op.create_table(
        "caregiver_alerts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("link_id", sa.BigInteger(), nullable=False),
        sa.Column("occurrence_id", sa.BigInteger(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column(
            "due_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="when it leaves, unless it must wait longer then",
        ),
        sa.Column(
            "told_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when it went into the outbox; those of one moment together",
        ),
        sa.Column("way", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["link_id"], ["caregiver_links.id"], name=op.f("fk_caregiver_alerts_link_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["occurrence_id"], ["occurrences.id"], name=op.f("fk_caregiver_alerts_occurrence_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_caregiver_alerts")),
        sa.UniqueConstraint(
            "occurrence_id", "link_id", "about", name=op.f("uq_caregiver_alerts_occurrence_id_link_id_about")
        ),
    )
    op.create_index(
        "ix_caregiver_alerts_waiting", "caregiver_alerts", ["due_at"], postgresql_where=sa.text("told_at IS NULL")
    )
    op.create_index("ix_caregiver_alerts_link_id", "caregiver_alerts", ["link_id", "told_at"])


def downgrade() -> None:
    op.drop_table("caregiver_alerts")
    op.drop_index(INDEX, "occurrences")
    op.drop_column("occurrences", "alerts_due")
