"""Removal of texts from the outbox: a message is now rendered when it is sent.

Waiting deliveries without a known subject are cancelled. Reminders are kept, because each refers to an occurrence (one
due time).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    op.execute(
        "UPDATE deliveries SET state = 'cancelled', settled_at = now(), last_error = 'from an older version'"
        " WHERE state IN ('pending', 'claimed') AND kind <> 'reminder' AND about_id IS NULL AND sealed IS NULL"
    )
    op.execute(
        "UPDATE deliveries SET payload = payload - '{text,title,body,parts,unproven,nameless,about}'::text[]"
        " WHERE payload ?| '{text,title,body,parts,unproven,nameless,about}'"
    )
    op.drop_column("broadcasts", "text")


def downgrade() -> None:
    op.add_column("broadcasts", sa.Column("text", sa.Text(), nullable=False, server_default=""))
    op.alter_column("broadcasts", "text", server_default=None)
