"""Activity logs from the stream to the table: each record is stored once, whatever dies."""

import os
import signal
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from multiprocessing import get_context
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from redis.exceptions import RedisError

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.jobs.redis import WEB, connect
from app.core.lib import local_time
from app.logs import jobs, stream
from app.logs.models import ActivityLog, LogDay, LogDayUser
from dev.servers import start_valkey, valkey_server
from dev.stack.waiting import eventually
from dev.supervisor import Supervisor
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.logs.records import put, rows


def events():
    return int(db.session.scalar(sa.select(sa.func.sum(LogDay.events))) or 0)


@pytest.fixture
def _idle(monkeypatch):
    """Let a job take the records of a dead job at once."""
    monkeypatch.setattr(stream, "IDLE_MS", 0)


@pytest.mark.usefixtures("_idle")
def test_records_of_a_job_that_died_before_its_insert_are_stored(app):
    put(5)
    assert len(stream.claim()) == 5  # simulates a job that dies after its claim
    put(2)
    jobs.ingest()
    assert (len(rows()), stream.waiting()) == (7, 0)


@pytest.mark.usefixtures("_idle")
def test_records_of_a_job_that_died_before_its_acknowledgement_are_stored_once(app):
    put(5)
    with unit_of_work():
        jobs.store(stream.claim())  # simulates a job that dies after its commit
    jobs.ingest()
    assert (len(rows()), events(), stream.waiting()) == (5, 5, 0)


def test_the_records_of_a_running_job_are_left_to_it(app):
    put(3)
    records = stream.claim()
    jobs.ingest()
    assert (rows(), stream.waiting()) == ([], 3)
    with unit_of_work():
        jobs.store(records)
    stream.delete(*records)
    assert (len(rows()), stream.waiting()) == (3, 0)


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
@pytest.mark.usefixtures("_idle")
def test_a_job_that_is_killed_around_its_commit_stores_each_record_once(committed, moment):
    put(50)
    db.session.remove()
    child = get_context("fork").Process(target=_die, args=(committed, moment))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert stream.waiting() == 50
    jobs.ingest()
    assert (len(rows()), events(), stream.waiting()) == (50, 50, 0)


def _die(app, moment):
    with app.app_context():
        db.engine.dispose(close=False)
        app.extensions["redis"].connection_pool.reset()
        sa.event.listen(db.session, moment, lambda _: os.kill(os.getpid(), signal.SIGKILL))
        jobs.ingest()


def answers():
    with suppress(RedisError):
        return bool(queue.connection().ping())
    return False


def test_waiting_and_claimed_records_survive_a_restart_of_redis(app, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "IDLE_MS", 0)
    with Supervisor(tmp_path / "logs") as supervisor:
        valkey = start_valkey(supervisor, tmp_path / "valkey")
        monkeypatch.setitem(app.extensions, "redis", connect(valkey.url, **WEB))
        put(5)
        assert len(stream.claim()) == 5
        put(2)
        valkey.child.process.kill()
        valkey.child.process.wait()
        supervisor.children.remove(valkey.child)
        supervisor.spawn("valkey", [valkey_server(), "valkey.conf"], cwd=tmp_path / "valkey")
        assert eventually(answers)
        jobs.ingest()
        assert (len(rows()), stream.waiting()) == (7, 0)


def test_a_refused_record_is_dropped_and_all_others_are_stored(app, caplog):
    put(2)
    put(1, created_at="kemarin dulu")
    put(1, log=None)
    queue.connection().xadd(stream.STREAM, {stream.FIELD: b"{"})
    put(2)
    jobs.ingest()
    assert (len(rows()), events(), stream.waiting()) == (4, 4, 0)
    dropped = [line for line in caplog.messages if "was dropped" in line]
    assert [line.rpartition(" ")[2] for line in dropped] == [
        "InvalidDatetimeFormat",
        "NotNullViolation",
        "InvalidTextRepresentation",
    ]
    assert "kemarin" not in caplog.text


def test_an_outage_of_postgresql_drops_nothing(app, monkeypatch):
    put(3)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "store", Mock(side_effect=sa.exc.OperationalError("", {}, Exception())))
        with pytest.raises(sa.exc.OperationalError):
            jobs.ingest()
    assert stream.waiting() == 3
    monkeypatch.setattr(stream, "IDLE_MS", 0)
    jobs.ingest()
    assert len(rows()) == 3


def test_records_of_an_erased_person_are_not_stored(app):
    siti = make_user()
    put(1, user_id=siti.id)
    put(1, user_id=siti.id + 1)
    put(1, user_id=None)
    jobs.ingest()
    assert [row.user_id for row in rows()] == [siti.id, None]
    assert (events(), stream.waiting()) == (2, 0)


def test_the_ingest_job_is_enqueued_only_if_records_are_waiting(app):
    jobs.enqueue_ingest()
    assert queue.connection().llen("rq:queue:bulk") == 0
    put(1)
    jobs.enqueue_ingest()
    jobs.enqueue_ingest()
    assert queue.connection().llen("rq:queue:bulk") == 1


def test_concurrent_jobs_store_every_record_once(committed, monkeypatch):
    monkeypatch.setattr(stream, "BATCH", 100)
    put(3000)
    run_together(committed, *[jobs.ingest] * 4)
    while stream.waiting():
        jobs.ingest()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(ActivityLog)) == 3000
    assert events() == 3000


def test_daily_sums_count_events_and_users_by_the_jakarta_day(app):
    siti, budi = make_user().id, make_user().id
    evening = datetime(2026, 3, 1, 16, 59, tzinfo=UTC)  # 23:59 in Jakarta
    for user_id in (siti, siti, budi, None):
        put(1, user_id=user_id, created_at=evening)
    put(1, user_id=siti, created_at=evening + timedelta(minutes=1))
    jobs.ingest()
    sums = {row.day: (row.events, row.active_users) for row in db.session.scalars(sa.select(LogDay))}
    assert sums == {date(2026, 3, 1): (4, 2), date(2026, 3, 2): (1, 1)}


def test_pruning_deletes_old_rows_in_batches_and_keeps_the_daily_sums(app, monkeypatch):
    monkeypatch.setattr(jobs, "PRUNE_BATCH", 2)
    for days in (1, 29, 31, 32, 400):
        put(1, created_at=local_time.now() - timedelta(days=days))
    jobs.ingest()
    assert app.test_cli_runner().invoke(args=["logs", "prune", "--days", "30"]).output == "3 rows deleted.\n"
    assert len(rows()) == 2
    assert events() == 5
    assert app.test_cli_runner().invoke(args=["logs", "prune", "--days", "0"]).exit_code == 2


def test_pruning_deletes_old_active_user_rows_and_keeps_the_sums(app, monkeypatch):
    siti = make_user().id
    monkeypatch.setattr(local_time, "now", lambda: datetime(2026, 3, 31, 17, 30, tzinfo=UTC))  # 1 April in Jakarta
    for day in (date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 31)):
        put(1, user_id=siti, created_at=datetime.combine(day, time(23), local_time.JAKARTA))
    jobs.ingest()
    jobs.prune(30)
    kept = db.session.scalars(sa.select(LogDayUser.day).order_by(LogDayUser.day)).all()
    assert kept == [date(2026, 3, 2), date(2026, 3, 31)]
    assert db.session.scalar(sa.select(sa.func.sum(LogDay.active_users))) == 3
