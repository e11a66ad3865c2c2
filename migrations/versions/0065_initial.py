"""The whole schema. No earlier migration is left: see `app.core.database.migrations.too_old`."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0065"
down_revision = None

SCHEMA = Path(__file__).parents[1] / "initial.sql"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(SCHEMA.read_text(encoding="utf-8"), execution_options={"no_parameters": True})


def downgrade() -> None:
    raise NotImplementedError("There is nothing before the first migration.")
