"""Audit log, the search over people, and how many came each day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"

SEARCHED = ["username", "nama_ktp", "email", "nomor_hp", "phone"]

TALLY = """
CREATE FUNCTION tally_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM user_days;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE user_days SET users = user_days.users - gone.users
        FROM (
            SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date AS day, count(*) AS users FROM before GROUP BY 1
        ) AS gone
        WHERE user_days.day = gone.day;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO user_days (day, users)
        SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*) FROM after GROUP BY 1 ORDER BY 1
        ON CONFLICT (day) DO UPDATE SET users = user_days.users + excluded.users;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION move_user_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE user_days SET users = users - 1 WHERE day = (OLD.created_at AT TIME ZONE 'Asia/Jakarta')::date;
    INSERT INTO user_days (day, users) VALUES ((NEW.created_at AT TIME ZONE 'Asia/Jakarta')::date, 1)
    ON CONFLICT (day) DO UPDATE SET users = user_days.users + 1;
    RETURN NULL;
END $$;

CREATE TRIGGER tally_inserted AFTER INSERT ON users
    REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
CREATE TRIGGER tally_deleted AFTER DELETE ON users
    REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
CREATE TRIGGER tally_truncated AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
-- By row, as nothing else ever changes it: a trigger with transition tables would run for every change of a profile.
CREATE TRIGGER tally_moved AFTER UPDATE OF created_at ON users
    FOR EACH ROW WHEN (OLD.created_at IS DISTINCT FROM NEW.created_at) EXECUTE FUNCTION move_user_day();

INSERT INTO user_days (day, users)
SELECT (created_at AT TIME ZONE 'Asia/Jakarta')::date, count(*) FROM users GROUP BY 1;
"""

APPEND_ONLY = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column(
            "actor_id",
            sa.BigInteger(),
            nullable=True,
            comment="who did it; null: the operator, by a command. No foreign key: the row outlives the person",
        ),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False, comment="what it was done to, as in user:12 or export:users"),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("ip", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index("ix_audit_entries_actor_id", "audit_entries", ["actor_id", "id"], unique=False)
    op.create_index(
        "ix_audit_entries_public",
        "audit_entries",
        ["id"],
        unique=False,
        postgresql_where=sa.text("action <> 'sql'"),
    )
    op.execute(APPEND_ONLY)
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    op.create_index(
        "ix_users_searched",
        "users",
        SEARCHED,
        unique=False,
        postgresql_using="gin",
        postgresql_ops=dict.fromkeys(SEARCHED, "gin_trgm_ops"),
    )
    op.create_table(
        "user_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("users", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_user_days")),
    )
    op.execute(TALLY)


def downgrade() -> None:
    for trigger in ("tally_inserted", "tally_deleted", "tally_truncated", "tally_moved"):
        op.execute(f"DROP TRIGGER {trigger} ON users")
    op.execute("DROP FUNCTION tally_users, move_user_day")
    op.drop_table("user_days")
    op.drop_index("ix_users_searched", table_name="users")
    op.drop_table("audit_entries")
    op.execute("DROP FUNCTION refuse_change")
