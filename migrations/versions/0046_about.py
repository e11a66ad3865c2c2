"""Columns for the subject of a delivery or a broadcast. Before, it was parsed from texts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"

IS_OPEN = "state IN ('pending', 'claimed')"


def upgrade() -> None:
    op.add_column(
        "deliveries",
        sa.Column("about_type", sa.Text(), comment="what about_id names: reminder, patient, forum_thread, ..."),
    )
    op.add_column(
        "deliveries", sa.Column("about_id", sa.BigInteger(), comment="what it tells of and is cancelled with")
    )
    op.create_index(
        "ix_deliveries_about",
        "deliveries",
        ["about_type", "about_id"],
        postgresql_where=sa.text(f"{IS_OPEN} AND about_id IS NOT NULL"),
    )
    op.drop_column("deliveries", "subject")
    op.add_column(
        "broadcasts",
        sa.Column("about_id", sa.BigInteger(), comment="which of its kind it tells of; each is announced once"),
    )
    op.execute("UPDATE broadcasts SET about_id = split_part(subject, ':', 2)::bigint")
    op.alter_column("broadcasts", "about_id", nullable=False)
    op.create_unique_constraint(op.f("uq_broadcasts_kind_about_id"), "broadcasts", ["kind", "about_id"])
    op.drop_column("broadcasts", "subject")


def downgrade() -> None:
    op.add_column("deliveries", sa.Column("subject", sa.Text(), comment="what it belongs to and is cancelled with"))
    op.drop_column("deliveries", "about_type")
    op.drop_column("deliveries", "about_id")
    op.create_index(
        "ix_deliveries_subject",
        "deliveries",
        ["subject"],
        postgresql_where=sa.text(f"{IS_OPEN} AND subject IS NOT NULL"),
    )
    op.add_column(
        "broadcasts",
        sa.Column("subject", sa.Text(), comment="what it tells of, as in forum_thread:5; announced once"),
    )
    op.execute("UPDATE broadcasts SET subject = kind || ':' || about_id")
    op.alter_column("broadcasts", "subject", nullable=False)
    op.create_unique_constraint(op.f("uq_broadcasts_subject"), "broadcasts", ["subject"])
    op.drop_column("broadcasts", "about_id")
