"""Migration 0051: it adds columns for crisis posts, hidden posts and blocks, and fills them from existing rows."""

from __future__ import annotations

from contextlib import closing

import psycopg2
import pytest

from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

STORED = """
INSERT INTO users (username, password_hash, nama_ktp, nama_samaran) VALUES
    ('siti', '', 'Siti', 'Melati'), ('budi', '', 'Budi', NULL);
INSERT INTO forum_categories (name) VALUES ('Umum');
INSERT INTO forum_threads (category_id, user_id, title, content, use_pseudonym, hidden_reason) VALUES
    (1, 1, 'T', 'C', true, 'Beberapa orang melaporkan tulisan ini. Moderator akan memeriksanya.'),
    (1, 1, 'T', 'C', false, NULL), (1, 1, 'T', 'C', true, NULL);
INSERT INTO forum_replies (thread_id, depth, user_id, content, hidden_reason) VALUES (2, 1, 2, 'C', 'Iklan.');
INSERT INTO forum_cases (thread_id, reply_id, author_id, state, is_urgent, decided_at) VALUES
    (1, NULL, 1, 'open', false, NULL), (2, 1, 2, 'hidden', false, now()), (2, NULL, 1, 'kept', false, '2026-01-01Z'),
    (3, NULL, 1, 'kept', true, '2026-01-01Z');
INSERT INTO forum_reports (case_id, reporter_id, reason) VALUES
    (1, 2, 'spam'), (2, 1, 'spam'), (3, 2, 'spam'), (3, 1, 'self_harm'), (4, 2, 'spam');
INSERT INTO forum_blocks (user_id, blocked_id, use_pseudonym) VALUES (2, 1, true), (2, 1, false), (1, 2, true);
INSERT INTO emergency_numbers (province, phone) VALUES ('Bali', '119'), ('Bali', '110'), ('Bali', '0361-119');
INSERT INTO crisis_phrases (phrase, words) VALUES ('ingin mati', 'ingin mati');
"""
LEFT = {
    "SELECT string_agg(concat_ws(' ', hidden_by, is_crisis), ', ' ORDER BY id) FROM forum_cases": (
        "reports f, moderator f, f, t"
    ),
    "SELECT string_agg(coalesce(kept_at::date::text, '-'), ' ' ORDER BY id) FROM forum_reports": "- - 2026-01-01 - -",
    "SELECT string_agg(coalesce(hidden_reason, '-'), ' ' ORDER BY id) FROM forum_threads": (
        "Beberapa orang melaporkan tulisan ini. - -"
    ),
    # The third block has no name in `shown_as`, because Budi has no visible post under a pseudonym.
    "SELECT string_agg(coalesce(shown_as, '-'), ' ' ORDER BY shown_as) FROM forum_blocks": "Melati Siti -",
    "SELECT string_agg(kind, ' ' ORDER BY id) FROM emergency_numbers": "ambulance police other",
    "SELECT string_agg(kind, ' ') FROM crisis_phrases": "crisis",
}
#: SQL statement that the previous version of the service uses. It must still work after the migration.
BLOCK = "INSERT INTO forum_blocks (user_id, blocked_id, use_pseudonym) VALUES (1, 2, false)"


def test_migration_0051_fills_the_new_columns_of_existing_rows(variables: dict[str, str], database: str) -> None:
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade", "0050"))[0] == 0
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(STORED)
    code, text = output(flask(there, "db", "upgrade", "0051"))
    assert code == 0, text
    for statement, expected in LEFT.items():
        assert scalar(database, statement) == expected, statement
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(BLOCK)
    assert scalar(database, "SELECT count(DISTINCT id) FROM forum_blocks") == 4
