"""Audit entries without usernames. Their trigger allows only the emptying of IP addresses and of old SQL."""

from __future__ import annotations

from alembic import op

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    op.execute("ALTER TABLE audit_entries DISABLE TRIGGER USER")
    op.execute("UPDATE audit_entries SET details = details - 'username' WHERE details ? 'username'")
    op.execute("ALTER TABLE audit_entries ENABLE TRIGGER USER")
    op.execute("""
        CREATE OR REPLACE FUNCTION only_forget() RETURNS trigger
            LANGUAGE plpgsql
            AS $$
        BEGIN
            IF (NEW.id, NEW.created_at, NEW.actor_id, NEW.action, NEW.subject)
                    IS DISTINCT FROM (OLD.id, OLD.created_at, OLD.actor_id, OLD.action, OLD.subject)
                OR (NEW.ip IS DISTINCT FROM OLD.ip AND (
                    NEW.ip IS NOT NULL
                    OR NOT EXISTS (SELECT FROM users WHERE id = OLD.actor_id AND erasure_due_at <= now())))
                OR (NEW.details <> OLD.details AND (
                    NEW.details <> '{}' OR OLD.action <> 'sql' OR OLD.created_at > now() - interval '30 days'))
            THEN
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
            END IF;
            RETURN NEW;
        END $$
    """)
    op.execute("""
        CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger
            LANGUAGE plpgsql
            AS $$
        BEGIN
            RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
        END $$
    """)
    op.execute("DROP TRIGGER append_only ON audit_entries")
    op.execute(
        "CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_entries"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def downgrade() -> None:
    """Keep the trigger, because it protects the entries of the former code too."""
