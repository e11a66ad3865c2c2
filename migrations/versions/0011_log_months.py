"""Activity logs by month: old months are dropped whole, and each index stays as small as a month.

The table as it is becomes the partition of everything up to the month after next, without a row being moved or a writer
waiting longer than a second: its keys are made beside the traffic, and its bound is checked before it counts.

Workers of the version before cannot store records in the new table; what they take waits in Redis for a new one.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

JAKARTA = ZoneInfo("Asia/Jakarta")

#: Nobody who writes waits longer than that for a change of the table; the upgrade fails then, and can be repeated.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '1s'"


def upgrade() -> None:
    this = datetime.now(JAKARTA).date().replace(day=1)
    has_rows = op.get_bind().scalar(sa.text("SELECT EXISTS (SELECT FROM activity_logs)"))
    first = _next(_next(this)) if has_rows else this
    before = f"activity_logs_until_{first:%Y_%m}"
    _make_ready(first)
    op.execute(LOCK_TIMEOUT)
    op.execute(f"ALTER TABLE activity_logs RENAME TO {before}")
    op.execute(f"ALTER TABLE {before} DROP CONSTRAINT pk_activity_logs, DROP CONSTRAINT uq_activity_logs_event_id")
    op.execute(f"ALTER TABLE {before} ADD CONSTRAINT {before}_pkey PRIMARY KEY USING INDEX activity_logs_new_pkey")
    op.execute(
        f"ALTER TABLE {before} ADD CONSTRAINT {before}_event_id_key UNIQUE USING INDEX activity_logs_new_event_id"
    )
    op.execute("DROP INDEX ix_activity_logs_created_at")
    op.execute(f"ALTER INDEX ix_activity_logs_user_id RENAME TO {before}_user_id_idx")
    op.execute(
        f"CREATE TABLE activity_logs (LIKE {before} INCLUDING DEFAULTS INCLUDING COMMENTS)"
        " PARTITION BY RANGE (created_at)"
    )
    op.execute("ALTER TABLE activity_logs ADD CONSTRAINT pk_activity_logs PRIMARY KEY (created_at, id)")
    op.execute(
        "ALTER TABLE activity_logs ADD CONSTRAINT uq_activity_logs_event_id_created_at UNIQUE (event_id, created_at)"
    )
    op.execute("CREATE INDEX ix_activity_logs_user_id ON activity_logs (user_id, id)")
    op.execute("ALTER SEQUENCE activity_logs_id_seq OWNED BY activity_logs.id")
    if has_rows:
        op.execute(
            f"ALTER TABLE activity_logs ATTACH PARTITION {before} FOR VALUES FROM (MINVALUE) TO ('{_begin(first)}')"
        )
        op.execute(f"ALTER TABLE {before} DROP CONSTRAINT until")
    else:
        op.execute(f"DROP TABLE {before}")
    for month in (first, _next(first), _next(_next(first))):
        bounds = f"FROM ('{_begin(month)}') TO ('{_begin(_next(month))}')"
        op.execute(f"CREATE TABLE activity_logs_{month:%Y_%m} PARTITION OF activity_logs FOR VALUES {bounds}")
    op.execute("CREATE TABLE activity_logs_rest PARTITION OF activity_logs DEFAULT")


def _make_ready(first: date) -> None:
    """Give the table what it needs to be a partition, beside those who write. What a first try left is made anew."""
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")  # waiting for other transactions makes nobody wait here
        for name, columns in (("pkey", "created_at, id"), ("event_id", "event_id, created_at")):
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS activity_logs_new_{name}")
            op.execute(f"CREATE UNIQUE INDEX CONCURRENTLY activity_logs_new_{name} ON activity_logs ({columns})")
        op.execute("SET lock_timeout = '1s'")
        op.execute("ALTER TABLE activity_logs DROP CONSTRAINT IF EXISTS until")
        op.execute(f"ALTER TABLE activity_logs ADD CONSTRAINT until CHECK (created_at < '{_begin(first)}') NOT VALID")
        op.execute("ALTER TABLE activity_logs VALIDATE CONSTRAINT until")
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.execute("ALTER TABLE activity_logs RENAME TO activity_logs_months")
    op.execute("ALTER TABLE activity_logs_months DROP CONSTRAINT pk_activity_logs")
    op.execute("ALTER TABLE activity_logs_months DROP CONSTRAINT uq_activity_logs_event_id_created_at")
    op.execute("DROP INDEX ix_activity_logs_user_id")
    op.execute("CREATE TABLE activity_logs (LIKE activity_logs_months INCLUDING DEFAULTS INCLUDING COMMENTS)")
    op.execute("INSERT INTO activity_logs SELECT * FROM activity_logs_months")
    op.execute("ALTER TABLE activity_logs ADD CONSTRAINT pk_activity_logs PRIMARY KEY (id)")
    op.execute("ALTER TABLE activity_logs ADD CONSTRAINT uq_activity_logs_event_id UNIQUE (event_id)")
    op.execute("CREATE INDEX ix_activity_logs_created_at ON activity_logs (created_at, id)")
    op.execute("CREATE INDEX ix_activity_logs_user_id ON activity_logs (user_id, id)")
    op.execute("ALTER SEQUENCE activity_logs_id_seq OWNED BY activity_logs.id")
    op.execute("DROP TABLE activity_logs_months")


def _begin(month: date) -> datetime:
    return datetime.combine(month, time(), JAKARTA)


def _next(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)
