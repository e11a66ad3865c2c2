"""Jobs that wait in the queue: they carry no time, and they do not run after their time to live."""

from rq import Queue
from rq.serializers import JSONSerializer

from app.core.jobs.queue import BULK, QUEUES, connection, enqueue_now
from app.core.jobs.schedule import Periodic, Scheduler
from app.identity.jobs import delete_expired_sessions
from app.notifications import jobs
from tests.notifications.deliveries import add, age


def waiting(queue):
    return Queue(queue, connection=connection(), serializer=JSONSerializer).jobs


def test_a_drain_carries_no_time_and_waits_for_at_most_a_minute(committed):
    age(60, of=add())
    age(60, of=add(queue="bulk"))
    jobs.enqueue_due()
    drains = [job for queue in QUEUES for job in waiting(queue)]
    assert len(drains) == 3
    for job in drains:
        assert job.kwargs == {}
        assert 0 < connection().ttl(job.key) <= 60


def test_each_job_that_is_rung_for_expires_within_a_minute(app):
    for queue in QUEUES:
        enqueue_now(delete_expired_sessions, queue=queue)
        (job,) = waiting(queue)
        assert 0 < connection().ttl(job.key) <= 60


def test_a_periodic_job_waits_until_its_next_turn(app):
    Scheduler((), (Periodic(delete_expired_sessions, every_s=3600),)).tick()
    (job,) = waiting(BULK)
    assert 60 < connection().ttl(job.key) <= 3600
