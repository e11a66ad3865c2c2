"""Migration 0044 adds the column `expires_at`. Existing sessions must expire at the same time as before."""

from __future__ import annotations

from contextlib import closing

import psycopg2
import pytest

from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

STORED = """
INSERT INTO users (username, password_hash, nama_ktp) VALUES ('siti', '', 'Siti'), ('admin', '', 'Admin');
INSERT INTO roles (name) VALUES ('pasien'), ('admin');
INSERT INTO user_roles (user_id, role_id) VALUES (1, 1), (2, 2);
INSERT INTO sessions (id, user_id, kind, created_at, last_used_at)
SELECT gen_random_uuid(), user_id, kind, '2026-01-01Z'::timestamptz - age, '2026-01-01Z'::timestamptz - idle
FROM (VALUES
    (1, 'user', '2 days'::interval, '1 day'::interval),
    (1, 'user', '29 days', '1 hour'),
    (2, 'user', '2 hours', '10 minutes'),
    (2, 'user', '11 hours 55 minutes', '10 minutes'),
    (2, 'superadmin', '10 minutes', '10 minutes')
) AS session (user_id, kind, age, idle);
"""
LEFT = """
SELECT string_agg((expires_at - '2026-01-01Z')::text, ', ' ORDER BY user_id, kind DESC, created_at DESC) FROM sessions
"""
#: Statement of the previous version of the service. It must still work after the migration.
LOGIN = "INSERT INTO sessions (id, user_id, kind) VALUES (gen_random_uuid(), 1, 'user')"


def test_existing_sessions_keep_their_expiry_after_the_migration(variables: dict[str, str], database: str) -> None:
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade", "0043"))[0] == 0
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(STORED)
    code, text = output(flask(there, "db", "upgrade", "0044"))
    assert code == 0, text
    assert scalar(database, LEFT) == "6 days, 1 day, 00:20:00, 00:05:00, 00:05:00"
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(LOGIN)
    assert scalar(database, "SELECT count(*) FROM sessions WHERE expires_at > now()") == 1
