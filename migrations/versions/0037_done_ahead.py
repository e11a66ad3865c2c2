"""From when a reminder counts as done, where its next dose is done before the present one is past."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.add_column(
        "reminders",
        sa.Column(
            "done_from",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="the occurrence that was done ahead; before it, it is not done yet. null: the current one is done",
        ),
    )


def downgrade() -> None:
    # What was done ahead counted as done from its own moment on; the code before knows no such beginning.
    op.execute("UPDATE reminders SET done_until = NULL WHERE done_from > now()")
    op.drop_column("reminders", "done_from")
