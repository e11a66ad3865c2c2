"""The whole schema. Earlier migrations were removed: see `app.core.database.migrations.FIRST`."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from alembic import op

revision = "0043"
down_revision = None

SCHEMA = Path(__file__).parents[1] / "initial.sql"

JAKARTA = ZoneInfo("Asia/Jakarta")


def upgrade() -> None:
    op.get_bind().exec_driver_sql(SCHEMA.read_text(encoding="utf-8"), execution_options={"no_parameters": True})
    # The service creates later months itself.
    month = datetime.now(JAKARTA).date().replace(day=1)
    for _ in range(3):
        following = (month + timedelta(days=31)).replace(day=1)
        bounds = f"FROM ('{_begin(month)}') TO ('{_begin(following)}')"
        op.execute(f"CREATE TABLE activity_logs_{month:%Y_%m} PARTITION OF activity_logs FOR VALUES {bounds}")
        month = following
    op.execute("CREATE TABLE activity_logs_rest PARTITION OF activity_logs DEFAULT")


def downgrade() -> None:
    raise NotImplementedError("There is nothing before the first migration.")


def _begin(month: date) -> datetime:
    return datetime.combine(month, time(), JAKARTA)
