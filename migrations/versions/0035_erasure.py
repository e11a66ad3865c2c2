"""People who are to be erased, whom a restored backup must not bring back, and what the audit log may forget."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"

#: As before, but for what an erasure takes out.
FORGET = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('audit.forgetting', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION only_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.id, NEW.created_at, NEW.actor_id, NEW.action, NEW.subject)
            IS DISTINCT FROM (OLD.id, OLD.created_at, OLD.actor_id, OLD.action, OLD.subject)
        OR (NEW.ip IS NOT NULL AND NEW.ip IS DISTINCT FROM OLD.ip)
        OR ARRAY(SELECT jsonb_object_keys(NEW.details) ORDER BY 1)
            <> ARRAY(SELECT jsonb_object_keys(OLD.details) ORDER BY 1)
        OR NOT EXISTS (SELECT FROM users WHERE erasure_due_at <= now())
    THEN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER only_forget BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION only_forget();
"""

REFUSE = """
DROP TRIGGER only_forget ON audit_entries;
DROP FUNCTION only_forget;
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
"""


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "erasure_due_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when everything of the person goes; until then a login takes it back. null: they stay",
        ),
    )
    op.add_column(
        "users",
        sa.Column(
            "erasure_posts",
            sa.Text(),
            nullable=True,
            comment="anonymise or delete: what becomes of their posts then",
        ),
    )
    op.create_table(
        "tombstones",
        sa.Column("name", sa.Text(), nullable=False, comment="a keyed hash of who it was, and the key's name"),
        sa.Column("posts", sa.Text(), nullable=False, comment="anonymise or delete: what became of their posts"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tombstones")),
    )
    op.execute(FORGET)


def downgrade() -> None:
    op.execute(REFUSE)
    op.drop_table("tombstones")
    op.drop_column("users", "erasure_posts")
    op.drop_column("users", "erasure_due_at")
