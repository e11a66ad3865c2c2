"""Two columns of occurrences: their timezone, and the time at which an answer was undone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"

PLAN = "the schedule in wall times, see {}"
COLUMNS = {
    "timezone": ("text", "in which day was counted; null: before this was kept"),
    "undone_at": ("timestamptz", "when an answer was taken back last; no older answer replaces that"),
}


def upgrade() -> None:
    for name, (type_, comment) in COLUMNS.items():
        op.execute(f"ALTER TABLE occurrences ADD COLUMN IF NOT EXISTS {name} {type_}")
        op.execute(f"COMMENT ON COLUMN occurrences.{name} IS '{comment}'")
    _comment("app.pengingat.timetable.schedule")


def downgrade() -> None:
    for name in COLUMNS:
        op.execute(f"ALTER TABLE occurrences DROP COLUMN IF EXISTS {name}")
    _comment("app.pengingat.schedule")


def _comment(module: str) -> None:
    op.alter_column("reminders", "plan", existing_type=sa.JSON(), comment=PLAN.format(module))
