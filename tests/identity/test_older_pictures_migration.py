"""Pictures from before it was noted whose they are: an upgrade finds out, so that they go with the person."""

from __future__ import annotations

from contextlib import closing

import psycopg2
import pytest

from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

#: Of Siti a profile, a thread and a reply with pictures, of which the last alone was noted; a reply of nobody any more.
STORED = """
INSERT INTO users (username, password_hash, nama_ktp, image)
VALUES ('siti', '', 'Siti', 'profil'), ('budi', '', 'Budi', NULL);
INSERT INTO forum_categories (name) VALUES ('Umum');
INSERT INTO forum_threads (category_id, user_id, title, content, image)
VALUES (1, 1, '', '', 'utas'), (1, 2, '', '', NULL);
INSERT INTO forum_replies (thread_id, depth, user_id, content, image)
VALUES (1, 1, 1, '', 'balasan'), (1, 1, 1, '', NULL), (1, 1, NULL, '', 'tanpa pemilik');
INSERT INTO own_pictures (name, user_id, bytes) VALUES ('balasan', 1, 9000);
"""
NOTED = "SELECT string_agg(format('%s %s %s', name, user_id, bytes), ', ' ORDER BY name) FROM own_pictures"


def test_pictures_stored_before_are_their_persons_and_take_no_room(variables: dict[str, str], database: str) -> None:
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade", "0037"))[0] == 0
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(STORED)
    for _ in range(2):
        code, text = output(flask(there, "db", "upgrade", "0038"))
        assert code == 0, text
        assert scalar(database, NOTED) == "balasan 1 9000, profil 1 0, utas 1 0"
        code, text = output(flask(there, "db", "downgrade", "0037"))
        assert code == 0, text
        assert scalar(database, NOTED) == "balasan 1 9000"
