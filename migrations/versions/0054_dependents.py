"""Dependents, whose account a caregiver manages, and the codes for the handover of the account."""

from __future__ import annotations

from alembic import op

revision = "0054"
down_revision = "0053"

COMMENTS = {
    "users.password_hash": "null: a dependent, who has no login",
    "users.guardian_id": "the caregiver who keeps the account of a dependent, see app.identity.dependents; "
    "null: no dependent",
    "handovers.user_id": "the dependent",
    "handovers.session_id": "the session that made the row, and whose end deletes it; null: no session did, or it was "
    "not noted",
}


def upgrade() -> None:
    op.execute(
        "ALTER TABLE users ADD COLUMN IF NOT EXISTS guardian_id bigint, ALTER COLUMN password_hash DROP NOT NULL"
    )
    op.execute("ALTER TABLE users DROP CONSTRAINT IF EXISTS ck_users_has_login_or_guardian")
    op.execute("ALTER TABLE users DROP CONSTRAINT IF EXISTS fk_users_guardian_id")
    op.execute(
        "ALTER TABLE users"
        " ADD CONSTRAINT ck_users_has_login_or_guardian"
        " CHECK (password_hash IS NOT NULL OR guardian_id IS NOT NULL) NOT VALID,"
        " ADD CONSTRAINT fk_users_guardian_id FOREIGN KEY (guardian_id) REFERENCES users (id) NOT VALID"
    )
    op.execute(
        "CREATE TABLE IF NOT EXISTS handovers ("
        " user_id bigint NOT NULL CONSTRAINT fk_handovers_user_id REFERENCES users (id) ON DELETE CASCADE,"
        " session_id uuid CONSTRAINT fk_handovers_session_id REFERENCES sessions (id) ON DELETE CASCADE,"
        " code_hash text NOT NULL CONSTRAINT uq_handovers_code_hash UNIQUE,"
        " expires_at timestamptz NOT NULL,"
        " created_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT pk_handovers PRIMARY KEY (user_id))"
    )
    op.execute("CREATE INDEX IF NOT EXISTS ix_handovers_session_id ON handovers (session_id)")
    op.execute("CREATE INDEX IF NOT EXISTS ix_handovers_expires_at ON handovers (expires_at)")
    for name, comment in COMMENTS.items():
        op.execute(f"COMMENT ON COLUMN {name} IS '{comment}'")
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE users VALIDATE CONSTRAINT ck_users_has_login_or_guardian")
        op.execute("ALTER TABLE users VALIDATE CONSTRAINT fk_users_guardian_id")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_users_guardian_id")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_users_guardian_id ON users (guardian_id) WHERE guardian_id IS NOT NULL"
        )


def downgrade() -> None:
    op.execute("DROP TABLE handovers")
    op.execute("DELETE FROM users WHERE guardian_id IS NOT NULL")
    op.execute("ALTER TABLE users DROP COLUMN guardian_id")
    op.execute("ALTER TABLE users ALTER COLUMN password_hash SET NOT NULL")
