"""Activity logs in one table without partitions, with the id of the Redis stream. Old records are deleted."""

from __future__ import annotations

from alembic import op

revision = "0061"
down_revision = "0060"

_CREATE = """
CREATE TABLE activity_logs (
    id bigserial CONSTRAINT pk_activity_logs PRIMARY KEY,
    stream_id text NOT NULL CONSTRAINT uq_activity_logs_stream_id UNIQUE,
    created_at timestamptz NOT NULL,
    log text NOT NULL,
    user_id bigint,
    event_type text,
    event_name text,
    screen_name text,
    activity_description text,
    session_id text,
    user_ip text,
    remote_ip text,
    user_agent text,
    extra jsonb DEFAULT '{}' NOT NULL
)
"""


def upgrade() -> None:
    op.execute("DROP TABLE IF EXISTS activity_logs")
    op.execute(_CREATE)
    op.execute("CREATE INDEX ix_activity_logs_created_at ON activity_logs (created_at)")
    op.execute("CREATE INDEX ix_activity_logs_user_id ON activity_logs (user_id, created_at)")
    for column, comment in {
        "stream_id": "id in the Redis stream; a record that is read twice stays one row",
        "created_at": "when the service accepted the record",
        "log": "user or admin: the route that received the record",
        "user_id": "user of the access token; null without a valid token",
        "user_ip": "IP address that the client sent",
        "remote_ip": "IP address that the service saw",
    }.items():
        op.execute(f"COMMENT ON COLUMN activity_logs.{column} IS '{comment}'")


def downgrade() -> None:
    op.execute("DELETE FROM activity_logs")
    op.execute("ALTER TABLE activity_logs DROP COLUMN stream_id, ADD COLUMN event_id uuid NOT NULL")
    op.execute("ALTER TABLE activity_logs RENAME TO flat_logs")
    # The service creates the partitions of the months.
    op.execute("CREATE TABLE activity_logs (LIKE flat_logs INCLUDING COMMENTS) PARTITION BY RANGE (created_at)")
    op.execute("DROP TABLE flat_logs")
    op.execute("CREATE SEQUENCE activity_logs_id_seq OWNED BY activity_logs.id")
    op.execute(
        "ALTER TABLE activity_logs ALTER id SET DEFAULT nextval('activity_logs_id_seq'), ALTER extra SET DEFAULT '{}',"
        " ADD CONSTRAINT pk_activity_logs PRIMARY KEY (created_at, id),"
        " ADD CONSTRAINT uq_activity_logs_event_id_created_at UNIQUE (event_id, created_at)"
    )
    op.execute("CREATE INDEX ix_activity_logs_user_id ON activity_logs (user_id, id)")
    op.execute("CREATE TABLE activity_logs_rest PARTITION OF activity_logs DEFAULT")
