"""Plans of the statements, with enough rows that a table scan would be visible."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.forum.models import ForumReply, ForumThread
from app.forum.service import toggles
from app.forum.service.posts import PostType
from app.forum.service.reads.replies import select_replies
from app.forum.service.reads.thread_list import select_page
from app.forum.service.reads.threads import select_thread
from tests.helpers.factories import make_user

pytestmark = pytest.mark.slow

LARGE = ("forum_threads", "forum_replies", "forum_thread_marks", "forum_reply_marks", "users")

#: SQL for 20,000 threads with one reply each, and 4,000 people with 10 saved threads and 10 liked replies each.
FILL = (
    """
    INSERT INTO users (username, password_hash, nama_ktp) SELECT 'massa' || n, '', 'x' FROM generate_series(1, 4000) n
    """,
    """
    INSERT INTO forum_threads (category_id, user_id, title, content)
    SELECT 1 + n % 10, :me, 't', 'c' FROM generate_series(1, 20000) n
    """,
    "INSERT INTO forum_replies (thread_id, depth, user_id, content) SELECT id, 1, :me, 'c' FROM forum_threads",
    """
    INSERT INTO forum_thread_marks (thread_id, user_id, is_saved)
    SELECT t.first + (u.id * 97 + n * 1999) % 20000, u.id, true
    FROM users u, generate_series(1, 10) n, (SELECT min(id) AS first FROM forum_threads) t
    """,
    """
    INSERT INTO forum_reply_marks (reply_id, user_id, is_liked)
    SELECT t.first + (u.id * 97 + n * 1999) % 20000, u.id, true
    FROM users u, generate_series(1, 10) n, (SELECT min(id) AS first FROM forum_replies) t
    """,
)


@pytest.fixture
def me(committed: Flask) -> Iterator[int]:
    with unit_of_work():
        user_id = make_user().id
    with db.engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        for statement in FILL:
            connection.execute(sa.text(statement), {"me": user_id} if ":me" in statement else {})
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(f"VACUUM ANALYZE {', '.join(LARGE)}"))
        yield user_id


def plan_of(statement: Any, **values: Any) -> str:
    compiled = statement.compile(db.engine, compile_kwargs={"render_postcompile": True})
    rows = db.session.connection().exec_driver_sql(f"EXPLAIN {compiled.string}", {**compiled.params, **values})
    return "\n".join(rows.scalars())


def test_no_reading_statement_scans_a_large_table(me: int) -> None:
    values = {
        "category_id": 3,
        "before": 9000,
        "size": 20,
        "offset": 0,
        "id": 5,
        "thread_id": 5,
        "first": 0,
    }
    pages = [
        select_page(by_category=by_category, before=before, saved=saved, mine=False)
        for by_category, before, saved in product((True, False), repeat=3)
    ]
    details = [select_thread(), select_replies(paged=False), select_replies(paged=True)]
    for statement, caller_id in product(pages + details, (me, None)):
        plan = plan_of(statement, **values, caller_id=caller_id)
        scanned = [table for table in LARGE if f"Seq Scan on {table}" in plan]
        assert not scanned, plan


@pytest.mark.parametrize("kind", [ForumThread, ForumReply])
def test_a_like_on_a_full_database_page_updates_no_index(me: int, kind: PostType) -> None:
    table = kind.__tablename__
    with unit_of_work():
        posts = db.session.scalars(sa.text(f"SELECT id FROM {table} WHERE id % 100 = 0")).all()
        for post_id in posts:
            toggles.like(kind, post_id, me)
        counted = sa.text("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = :table")
        updated, hot = db.session.execute(counted, {"table": table}).one()
    assert updated == hot == len(posts) == 200
