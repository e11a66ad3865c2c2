"""Kinds of phrases and of emergency numbers.

`flask seed` adds the phrases of medical emergencies.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0048"

NATIONAL = (("110", "police"), ("113", "fire"), ("119", "ambulance"))


def upgrade() -> None:
    op.execute("ALTER TABLE crisis_phrases ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT 'crisis'")
    op.execute("ALTER TABLE emergency_numbers ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT 'other'")
    update = sa.text("UPDATE emergency_numbers SET kind = :kind WHERE phone = :phone AND kind = 'other'")
    for phone, kind in NATIONAL:
        op.execute(update.bindparams(phone=phone, kind=kind))


def downgrade() -> None:
    op.drop_column("emergency_numbers", "kind")
    op.execute("DELETE FROM crisis_phrases WHERE kind <> 'crisis'")
    op.drop_column("crisis_phrases", "kind")
