"""If PostgreSQL cancels a request because of a deadlock, the service retries the request once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from app.core.database.session import db
from dev.stack.waiting import wait_until
from tests.races.sound import wrong_rows
from tests.races.world import write

pytestmark = pytest.mark.processes

CATEGORY = "SELECT FROM forum_categories WHERE id = :id FOR NO KEY UPDATE"
THREAD = "SELECT FROM posts WHERE id = :id FOR UPDATE"
#: Returns 1 if the PostgreSQL process `pid` has waited for a lock longer than `deadlock_timeout`. Such a process has
#: already checked for a deadlock, and does not check again during this wait.
HAS_LOOKED = """
    SELECT count(*) FROM pg_stat_activity
    WHERE pid = :pid AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '3 s'"""
IS_WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE forum_categories%'"""


@contextmanager
def transaction():
    with db.engine.connect() as connection, connection.begin():
        yield connection


def move_into_a_deadlock(world):
    """Send a request that moves a forum thread from category 1 to 2, and cause a deadlock.

    Another transaction locks category 2 and waits for the forum thread. PostgreSQL cancels the request. Return the id
    of the forum thread, and the response.
    """
    author = world.dewi
    thread_id = world.new(write(author, 1))

    def wait_for_thread(connection):
        # The retried request may lock the forum thread before this transaction. A second deadlock follows, in which
        # PostgreSQL cancels this transaction.
        with world.app.app_context(), suppress(OperationalError):
            connection.execute(sa.text(THREAD), {"id": thread_id})
        connection.rollback()

    with ThreadPoolExecutor(2) as pool, transaction() as other, transaction() as holder:
        pid = other.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        holder.execute(sa.text(CATEGORY), {"id": 1})
        other.execute(sa.text(CATEGORY), {"id": 2})
        request = pool.submit(world.send, author.put(f"/forum/threads/{thread_id}", category_id=2))
        wait_until(lambda: bool(world.sql(IS_WAITING)))  # The request has locked the thread and waits for a category.
        waiting = pool.submit(wait_for_thread, other)
        wait_until(lambda: bool(world.sql(HAS_LOOKED, pid=pid)))
        holder.rollback()  # The request can lock category 1 and then waits for category 2. This completes the deadlock.
        response = request.result()
        waiting.result()
    return thread_id, response


def test_a_request_cancelled_by_a_deadlock_is_retried(world, caplog):
    thread_id, response = move_into_a_deadlock(world)
    assert "deadlock with another request: retrying" in caplog.text
    assert response.status == 200, response
    assert world.sql("SELECT category_id FROM posts WHERE id = :id", id=thread_id) == 2
    assert not wrong_rows(world)
