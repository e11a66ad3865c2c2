"""Tests of code that skips people who are being deleted, and of a request that waited for a deletion."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import jobs as identity_jobs
from app.identity.models import User
from app.pengingat import jobs
from dev.stack.waiting import wait_until
from tests.helpers.factories import PASSWORD
from tests.helpers.overlap import IS_WAITING
from tests.races.meeting import NOBODY
from tests.races.overlap import AT_COMMIT
from tests.races.world import fall_due, send_with_link

pytestmark = pytest.mark.processes

TOKEN = "tautan-obat-ibu-000001"


@contextmanager
def being_deleted(user_id):
    """Lock a person's row, as the deletion of a person does before it deletes rows that reference the person."""
    with db.engine.connect() as connection, connection.begin():
        connection.execute(sa.select(User.id).where(User.id == user_id).with_for_update())
        yield


def ends_without_waiting(world, work):
    """Run `work` in another thread. Return whether it ends without a wait for a lock."""

    def is_waiting():
        with db.engine.connect() as connection:
            return bool(connection.execute(sa.text(IS_WAITING)).scalar())

    def run():
        with world.app.app_context():
            work()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        wait_until(lambda: future.done() or is_waiting())
        return future.done()


SESSIONS = "SELECT count(*) FROM sessions WHERE user_id = :id"
PLANNED = "SELECT max(planned_until) > now() + interval '1 hour' FROM reminders WHERE user_id = :id AND NOT is_finished"


def test_jobs_skip_a_person_who_is_being_deleted(world):
    leaving, other = world.siti, world.dependent
    world.change("UPDATE sessions SET last_used_at = now() - interval '8 days', expires_at = now() - interval '1 day'")
    with being_deleted(leaving.id):
        assert ends_without_waiting(world, jobs.top_up)
        assert ends_without_waiting(world, identity_jobs.delete_expired_sessions)
        assert (world.sql(PLANNED, id=leaving.id), world.sql(PLANNED, id=other.id)) == (False, True)
        assert (world.sql(SESSIONS, id=leaving.id) > 0, world.sql(SESSIONS, id=world.ana.id)) == (True, 0)
    jobs.top_up()  # the lock is released, and the person still exists
    identity_jobs.delete_expired_sessions()
    assert (world.sql(PLANNED, id=leaving.id), world.sql(SESSIONS, id=leaving.id)) == (True, 0)


def test_an_answer_that_waited_for_the_deletion_of_a_dependent_is_refused(world, pairs):
    fall_due(world, world.of_dependent)
    send_with_link(world, world.of_dependent, TOKEN)
    deletion = world.budi.delete(f"/caregiver/dependents/{world.dependent.id}", password=PASSWORD)
    _, answer = pairs.overlap.run(deletion, NOBODY.post(f"/konfirmasi/{TOKEN}", status="done"), AT_COMMIT)
    assert answer.told() == (409, "already_closed")
    pairs.restore()
