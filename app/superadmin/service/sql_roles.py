"""Database role for the SQL console. The role can read, and can optionally write.

SQL statements in the console cannot change these rights. The role owns no table, so it cannot alter tables or disable
triggers. It can read the audit log, but cannot change it. The service's role owns and writes the audit log. If the
console uses the service's own role instead, statements can change the audit log.
"""

from __future__ import annotations

import re
import secrets

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest
from app.core.settings import settings
from app.identity.models import AuditEntry

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

#: Statements to format with the role's name. The name is validated, because identifiers cannot be parameters.
STATEMENTS = (
    "ALTER ROLE {role} LOGIN CONNECTION LIMIT 10 PASSWORD '{password}'",
    "ALTER ROLE {role} SET default_transaction_read_only = {read_only}",
    # Make the service's role a member of the console role. The service may then end statements of the console role.
    "GRANT {role} TO CURRENT_USER",
    "GRANT USAGE ON SCHEMA public TO {role}",
    # Revoke earlier rights, because the role may have had write access.
    "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}",
    "REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON SEQUENCES FROM {role}",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {role}",
)
WRITING = (
    "GRANT INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT INSERT, UPDATE, DELETE, TRUNCATE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {role}",
    "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {audit} FROM {role}",
)
#: Query that returns whether the service's role may grant the right to set `log_min_messages`. A console role with
#: this right keeps its errors out of the server's log.
MAY_GRANT_SILENCE = sa.text("SELECT has_parameter_privilege('log_min_messages', 'SET WITH GRANT OPTION')")
GRANT_SILENCE = "GRANT SET ON PARAMETER log_min_messages TO {role}"


def create(name: str, *, writes: bool = False) -> str:
    """Create a console role, or give it a new password. Return the database address with role and password.

    The service's role needs CREATEROLE. Without `writes`, the console role can only read.
    """
    if not NAME.fullmatch(name):
        raise BadRequest("Nama peran hanya boleh berisi huruf kecil, angka dan garis bawah.", code="bad_role_name")
    password = secrets.token_urlsafe(24)
    exists = sa.text("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = :name)")
    if not db.session.scalar(exists, {"name": name}):
        db.session.execute(sa.text(f'CREATE ROLE "{name}"'))
    words = {
        "role": f'"{name}"',
        "password": password,
        "read_only": "off" if writes else "on",
        "audit": AuditEntry.__tablename__,
    }
    silence = (GRANT_SILENCE,) if db.session.scalar(MAY_GRANT_SILENCE) else ()
    for statement in (*STATEMENTS, *(WRITING if writes else ()), *silence):
        db.session.execute(sa.text(statement.format(**words)))
    url = sa.make_url(settings.database_url).set(drivername="postgresql", username=name, password=password)
    return url.render_as_string(hide_password=False)
