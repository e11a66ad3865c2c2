"""Tests that concurrent requests cause no deadlocks.

If PostgreSQL cancels a request because of a deadlock, the service retries the request once.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from app.core.database.session import db
from dev.stack.waiting import wait_until
from tests.races.care import number_is_proven_by_two, two_take_the_number_of_one_another
from tests.races.families import (
    dependent_is_deleted_while_reminders_are_created,
    erasure_of_a_dependent_runs_twice_and_meets_that_of_the_caregiver,
    verifikasi_and_salah_nomor_meet_changes_of_the_profile,
)
from tests.races.forum import thread, write
from tests.races.leaving import login_meets_the_wish_to_leave
from tests.races.meeting import ENCOUNTERS, Scene, play, serving
from tests.races.moderation import crowd_meets_delete_of_the_thread, crowd_meets_in_a_thread

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

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
#: Number of rounds for each encounter of many concurrent calls in one forum thread.
ROUNDS = 50
OTHER_CONNECTIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


@pytest.fixture
def scene(committed):
    with serving(committed) as port:
        yield Scene(committed, port)


@contextmanager
def transaction():
    with db.engine.connect() as connection, connection.begin():
        yield connection


def move_into_a_deadlock(scene):
    """Send a request that moves a forum thread from category 1 to 2, and cause a deadlock.

    Another transaction locks category 2 and waits for the forum thread. PostgreSQL cancels the request. Return the id
    of the forum thread, and the response.
    """
    author = scene.person()
    thread_id = scene.new(write(author, 1))

    def wait_for_thread(connection):
        # The retried request may lock the forum thread before this transaction. A second deadlock follows, in which
        # PostgreSQL cancels this transaction.
        with scene.app.app_context(), suppress(OperationalError):
            connection.execute(sa.text(THREAD), {"id": thread_id})
        connection.rollback()

    with ThreadPoolExecutor(2) as pool, transaction() as other, transaction() as holder:
        pid = other.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        holder.execute(sa.text(CATEGORY), {"id": 1})
        other.execute(sa.text(CATEGORY), {"id": 2})
        request = pool.submit(scene.send, author.put(thread(thread_id), category_id=2))
        wait_until(lambda: bool(scene.sql(IS_WAITING)))  # The request has locked the thread and waits for a category.
        waiting = pool.submit(wait_for_thread, other)
        wait_until(lambda: bool(scene.sql(HAS_LOOKED, pid=pid)))
        holder.rollback()  # The request can lock category 1 and then waits for category 2. This completes the deadlock.
        response = request.result()
        waiting.result()
    return thread_id, response


def test_a_request_cancelled_by_a_deadlock_is_retried(scene, caplog):
    thread_id, response = move_into_a_deadlock(scene)
    assert "deadlock with another request: retrying" in caplog.text
    assert response.status == 200, response
    assert scene.sql("SELECT category_id FROM posts WHERE id = :id", id=thread_id) == 2
    assert scene.sql("SELECT threads_count FROM forum_categories WHERE id = 1") == 0
    assert scene.sql("SELECT threads_count FROM forum_categories WHERE id = 2") == 1


def count_deadlocks(scene):
    """Close all connections and return PostgreSQL's count of deadlocks.

    PostgreSQL adds the statistics of a connection when the connection ends.
    """
    db.engine.dispose()
    wait_until(lambda: scene.sql(OTHER_CONNECTIONS) == 0)
    return int(scene.sql(DEADLOCKS))


def play_without_deadlock(scene, rounds, *scripts):
    """Run the encounters in turn for a number of rounds. Assert that PostgreSQL counted no deadlock."""
    registered = [each for each in ENCOUNTERS if each.run in scripts]
    before = count_deadlocks(scene)
    for _ in range(rounds):
        for each in registered:
            play(scene, each)
    assert count_deadlocks(scene) == before


def test_a_popular_thread_causes_no_deadlocks(scene):
    play_without_deadlock(scene, ROUNDS, crowd_meets_in_a_thread, crowd_meets_delete_of_the_thread)


def test_concurrent_logins_and_account_deletions_cause_no_deadlock(scene):
    play_without_deadlock(scene, 3, login_meets_the_wish_to_leave)


def test_dependents_and_numbers_cause_no_deadlocks(scene):
    play_without_deadlock(
        scene,
        3,
        dependent_is_deleted_while_reminders_are_created,
        erasure_of_a_dependent_runs_twice_and_meets_that_of_the_caregiver,
        number_is_proven_by_two,
        two_take_the_number_of_one_another,
        verifikasi_and_salah_nomor_meet_changes_of_the_profile,
    )
