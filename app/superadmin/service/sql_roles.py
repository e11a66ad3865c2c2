"""The restricted database role of the SQL console: it can log in and read, whatever a statement tries."""

from __future__ import annotations

import re
import secrets

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest
from app.core.settings import settings

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

#: The names are checked, and identifiers cannot be parameters.
STATEMENTS = (
    "ALTER ROLE {role} LOGIN CONNECTION LIMIT 10 PASSWORD '{password}'",
    "ALTER ROLE {role} SET default_transaction_read_only = on",
    # Membership lets the service end the role's statements when their time is up.
    "GRANT {role} TO CURRENT_USER",
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {role}",
)
#: The console keeps its errors out of the server's log, where the service's role was given that right to hand on.
MAY_GRANT_SILENCE = sa.text("SELECT has_parameter_privilege('log_min_messages', 'SET WITH GRANT OPTION')")
GRANT_SILENCE = "GRANT SET ON PARAMETER log_min_messages TO {role}"


def create(name: str) -> str:
    """Create the role, or give it a new password; returns the database address to log in with. Needs CREATEROLE."""
    if not NAME.fullmatch(name):
        raise BadRequest("Nama peran hanya boleh berisi huruf kecil, angka dan garis bawah.", code="bad_role_name")
    password = secrets.token_urlsafe(24)
    exists = sa.text("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = :name)")
    if not db.session.scalar(exists, {"name": name}):
        db.session.execute(sa.text(f'CREATE ROLE "{name}"'))
    may_grant_silence = db.session.scalar(MAY_GRANT_SILENCE)
    for statement in (*STATEMENTS, GRANT_SILENCE) if may_grant_silence else STATEMENTS:
        db.session.execute(sa.text(statement.format(role=f'"{name}"', password=password)))
    url = sa.make_url(settings.database_url).set(drivername="postgresql", username=name, password=password)
    return url.render_as_string(hide_password=False)
