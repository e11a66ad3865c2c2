"""The ledger: what became of each occurrence of a reminder, those of the coming 36 hours included."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

#: From the deliveries that are planned already. A zone that this PostgreSQL does not know counts its days as Jakarta's.
OCCURRENCES = """
INSERT INTO occurrences (reminder_id, user_id, tipe, judul, slot, due_at, day)
SELECT DISTINCT ON (r.id, d.due_at, split_part(d.dedupe_key, ':', 4))
    r.id, r.user_id, r.tipe, r.judul, split_part(d.dedupe_key, ':', 4), d.due_at,
    (d.due_at AT TIME ZONE coalesce(z.name, 'Asia/Jakarta'))::date
FROM deliveries AS d
JOIN reminders AS r ON d.subject = 'pengingat:' || r.id
LEFT JOIN pg_timezone_names AS z ON z.name = r.timezone
WHERE d.kind = 'reminder' AND d.state IN ('pending', 'claimed') AND d.expires_at > now()
ORDER BY r.id, d.due_at, split_part(d.dedupe_key, ':', 4)
"""
DELIVERIES = """
UPDATE deliveries AS d SET occurrence_id = o.id
FROM occurrences AS o
WHERE d.kind = 'reminder' AND d.state IN ('pending', 'claimed') AND d.subject = 'pengingat:' || o.reminder_id
    AND d.due_at = o.due_at AND split_part(d.dedupe_key, ':', 4) = o.slot
"""


def upgrade() -> None:
    # First what may take long, without a lock that anybody waits for. Ended in the middle, it is done over.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS occurrence_id bigint")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_deliveries_occurrence_id")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_deliveries_occurrence_id ON deliveries (occurrence_id) "
            "WHERE occurrence_id IS NOT NULL"
        )
    op.execute(
        "COMMENT ON COLUMN deliveries.occurrence_id IS 'of a reminder: the row of its ledger. "
        "No foreign key: the ledger is kept far longer than a delivery'"
    )
    op.create_table(
        "occurrences",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("reminder_id", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("tipe", sa.Text(), nullable=False),
        sa.Column("judul", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False, comment="which dose, meal, session or offset"),
        sa.Column(
            "due_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="when the reminder leaves; of a visit, the notice",
        ),
        sa.Column("day", sa.Date(), nullable=False, comment="of due_at, in the reminder's zone"),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answered_via", sa.Text(), nullable=True),
        sa.Column("snoozed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("snoozes", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column(
            "undelivered",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="no channel got it out: our failure, known when it is missed",
        ),
        sa.Column("link_hash", sa.Text(), nullable=True, comment="SHA-256 of the token in the message's link"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["reminder_id"], ["reminders.id"], name=op.f("fk_occurrences_reminder_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_occurrences_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_occurrences")),
        sa.UniqueConstraint("reminder_id", "due_at", "slot", name=op.f("uq_occurrences_reminder_id_due_at_slot")),
    )
    op.create_index("ix_occurrences_user_id", "occurrences", ["user_id", "due_at", "id"])
    op.create_index("ix_occurrences_open", "occurrences", ["due_at"], postgresql_where=sa.text("state = 'pending'"))
    op.create_index(
        "ix_occurrences_link_hash", "occurrences", ["link_hash"], postgresql_where=sa.text("link_hash IS NOT NULL")
    )
    op.create_index("ix_occurrences_due_at", "occurrences", ["due_at"], postgresql_using="brin")
    op.create_table(
        "occurrence_days",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("reminder_id", sa.BigInteger(), nullable=True),
        sa.Column("tipe", sa.Text(), nullable=False),
        sa.Column("judul", sa.Text(), nullable=False),
        sa.Column("due", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("missed", sa.Integer(), nullable=False),
        sa.Column("undelivered", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["reminder_id"], ["reminders.id"], name=op.f("fk_occurrence_days_reminder_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_occurrence_days_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_occurrence_days")),
    )
    op.create_index("ix_occurrence_days_user_id", "occurrence_days", ["user_id", "day"])
    op.create_index("ix_occurrence_days_reminder_id", "occurrence_days", ["reminder_id"])
    op.execute(OCCURRENCES)
    op.execute(DELIVERIES)


def downgrade() -> None:
    op.drop_table("occurrence_days")
    op.drop_table("occurrences")
    op.drop_index("ix_deliveries_occurrence_id", "deliveries")
    op.drop_column("deliveries", "occurrence_id")
