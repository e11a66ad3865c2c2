"""Plans of the statements, with enough rows that a table scan would be visible."""

from itertools import product

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.forum.service import marks
from app.forum.service.reads import _THREAD, _list
from tests.helpers.factories import make_user
from tests.helpers.plans import analyse, plan_of

pytestmark = pytest.mark.slow

#: SQL for 20,000 threads with one reply each, and 4,000 people with 10 saved threads and 10 liked replies each. All
#: threads have a common word. Every 2,000th thread has a rare word.
FILL = (
    """
    INSERT INTO users (username, password_hash, nama_ktp) SELECT 'massa' || n, '', 'x' FROM generate_series(1, 4000) n
    """,
    """
    INSERT INTO posts (category_id, user_id, title, content)
    SELECT 1 + n % 10, u.first + n % 20, 'Judul ' || md5(n::text), 'umum ' || md5((-n)::text)
           || CASE WHEN n % 2000 = 0 THEN ' langka' ELSE '' END
    FROM generate_series(1, 20000) n, (SELECT min(id) AS first FROM users) u
    """,
    "INSERT INTO posts (root_id, depth, user_id, content) SELECT id, 1, user_id, 'c' FROM posts",
    """
    INSERT INTO marks (post_id, user_id, is_saved, is_liked)
    SELECT t.first + (u.id * 97 + n * 1999) % 40000, u.id, n <= 10, n > 10
    FROM users u, generate_series(1, 20) n, (SELECT min(id) AS first FROM posts) t
    """,
)


@pytest.fixture
def me(committed):
    with unit_of_work():
        user_id = make_user().id
    with db.engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        for statement in FILL:
            connection.execute(sa.text(statement))
    analyse("posts", "marks", "users")
    return user_id


def test_no_reading_statement_scans_a_large_table(me):
    values = {"category_id": 3, "size": 20, "offset": 0, "id": 5, "after": 0, "pattern": "langka"}
    lists = [
        _list(threads=threads, signed_in=True, by_category=by_category and threads, saved=saved, mine=mine, search=q)[0]
        for threads, by_category, saved, mine, q in product((True, False), repeat=5)
        if threads or saved or mine
    ]
    for by_category, q in product((True, False), repeat=2):
        lists.append(
            _list(threads=True, signed_in=False, by_category=by_category, saved=False, mine=False, search=q)[0]
        )
    for statement, caller_id in product([*lists, _THREAD], (me, None)):
        plan = plan_of(statement, **values, caller_id=caller_id)
        scanned = [table for table in ("posts", "marks", "users") if f"Seq Scan on {table}" in plan]
        assert not scanned, plan


def test_a_search_for_a_rare_word_uses_the_index(me):
    statement, _ = _list(threads=True, signed_in=True, by_category=False, saved=False, mine=False, search=True)
    values = {"size": 20, "offset": 0, "caller_id": me}
    assert "ix_posts_searched" in plan_of(statement, **values, pattern="langka")
    assert "Seq Scan on posts" not in plan_of(statement, **values, pattern="umum")


def test_a_like_on_a_full_database_page_updates_no_index(me):
    with unit_of_work():
        ids = db.session.scalars(sa.text("SELECT id FROM posts WHERE id % 200 = 0 AND root_id IS NULL")).all()
        for post_id in ids:
            marks.toggle("is_liked", post_id, me, is_thread=True)
        counted = sa.text("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'posts'")
        updated, hot = db.session.execute(counted).one()
    assert updated == hot == len(ids) == 100
