"""Migration that adds the time of the last use to existing phone numbers."""

from __future__ import annotations

from contextlib import closing

import psycopg2
import pytest

from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

STORED = """
INSERT INTO users (username, password_hash, nama_ktp, phone, created_at) VALUES
    ('old', '', 'Old', '+621', now() - interval '1 year'), ('heard', '', 'Heard', '+622', now() - interval '1 year'),
    ('new', '', 'New', '+623', now() - interval '9 days'), ('told', '', 'Told', '+624', now() - interval '9 days'),
    ('none', '', 'None', NULL, now());
INSERT INTO inbound (provider, event_key, kind, phone, text, received_at, handled_at, outcome) VALUES
    ('test', '1', 'message', '+622', 'SUDAH', now() - interval '5 days', now(), 'answered:done'),
    ('test', '2', 'message', '+622', 'VERIFIKASI', now(), now(), 'answered:verify unknown_code');
INSERT INTO deliveries
    (dedupe_key, queue, channel, kind, user_id, due_at, expires_at, next_try_at, state, settled_at, receipt)
SELECT username, 'urgent', 'messaging', kind, id, now(), now(), now(), 'sent', now() - interval '2 days', 'delivered'
FROM users JOIN (VALUES ('told', 'reminder'), ('new', 'phone_code')) AS sent (username, kind) USING (username);
INSERT INTO phone_numbers (phone, wrong_at) VALUES ('+621', now()), ('+623', now() - interval '2 days');
UPDATE users SET phone_verified_at = now() - interval '1 day' WHERE username IN ('old', 'new');
"""
USED = """
SELECT string_agg(phone || ' ' || coalesce(extract(day FROM now() - used_at)::text, 'never'), ', ' ORDER BY phone)
FROM phone_numbers
"""
FLAGS = """
SELECT string_agg(concat_ws(' ', username, phone_verified_at IS NOT NULL, wrong_at IS NOT NULL), ', ' ORDER BY phone)
FROM users JOIN phone_numbers USING (phone) WHERE username IN ('old', 'new')
"""


def test_the_migration_fills_in_the_last_use_of_existing_numbers(variables: dict[str, str], database: str) -> None:
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade", "0051"))[0] == 0
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(STORED)
    code, text = output(flask(there, "db", "upgrade"))
    assert code == 0, text
    assert scalar(database, USED) == "+621 30, +622 5, +623 never, +624 2"
    assert scalar(database, FLAGS) == "old f t, new t f"
    code, text = output(flask(there, "db", "check"))
    assert code == 0, text
    assert output(flask(there, "db", "downgrade"))[0] == 0
