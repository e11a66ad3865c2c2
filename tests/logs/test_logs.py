"""Activity logs from the request to the table: never refused, lost or stored twice."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from threading import Thread
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.lib import local_time
from app.logs import buffer, jobs
from app.logs.models import ActivityLog, LogDay, LogDayUser
from tests.logs.records import RECORD, rows, waiting


def put(count: int) -> None:
    for n in range(count):
        buffer.put({**RECORD, "log": "user", "session_id": str(n), "created_at": local_time.now(), "extra": {}})


def test_records_of_a_drain_that_crashed_before_its_insert_are_stored(app: Flask) -> None:
    put(5)
    assert len(buffer.claim()) == 1  # simulates a job that dies after its claim
    put(2)
    jobs.ingest()
    assert len(rows()) == 7
    assert not buffer.has_records()


def test_records_of_a_drain_that_crashed_after_its_insert_are_stored_once(app: Flask) -> None:
    put(5)
    (key,) = buffer.claim()
    with unit_of_work():
        buffer.store(buffer.records_of(key))  # simulates a job that dies before it deletes the list
    jobs.ingest()
    assert len(rows()) == 5
    assert db.session.scalar(sa.select(LogDay.events)) == 5
    assert not buffer.has_records()


def test_a_record_that_redis_stored_despite_a_timeout_becomes_one_row(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from redis.exceptions import TimeoutError as RedisTimeoutError

    redis = queue.connection()
    push = redis.rpush

    def too_slow(*args: Any) -> None:
        push(*args)
        raise RedisTimeoutError

    monkeypatch.setattr(redis, "rpush", too_slow)
    put(1)
    assert (len(rows()), waiting()) == (1, 1)
    jobs.ingest()
    assert len(rows()) == 1


def test_the_ingest_job_is_enqueued_only_if_records_are_waiting(app: Flask) -> None:
    jobs.enqueue_ingest()
    assert queue.connection().llen("rq:queue:bulk") == 0
    put(1)
    jobs.enqueue_ingest()
    jobs.enqueue_ingest()
    assert queue.connection().llen("rq:queue:bulk") == 1


def test_concurrent_drains_store_every_record_once(committed: Flask) -> None:
    put(3000)

    def work() -> None:
        with committed.app_context():
            for _ in range(10):
                for key in buffer.claim(100):
                    with unit_of_work():
                        buffer.store(buffer.records_of(key))
                    buffer.drop(key)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs.ingest()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(ActivityLog)) == 3000
    assert db.session.scalar(sa.select(sa.func.sum(LogDay.events))) == 3000


def test_daily_sums_count_events_and_users_by_the_jakarta_day(app: Flask) -> None:
    evening = datetime(2026, 3, 1, 16, 59, tzinfo=UTC)  # 23:59 in Jakarta
    for user_id, at in ((1, evening), (1, evening), (2, evening), (None, evening), (1, evening + timedelta(minutes=1))):
        buffer.put({"log": "user", "user_id": user_id, "created_at": at, "extra": {}})
    jobs.ingest()
    sums = {row.day: (row.events, row.active_users) for row in db.session.scalars(sa.select(LogDay))}
    assert sums == {date(2026, 3, 1): (4, 2), date(2026, 3, 2): (1, 1)}


def test_pruning_deletes_old_rows_and_keeps_the_daily_sums(app: Flask) -> None:
    for days in (1, 29, 31, 400):
        buffer.put({"log": "user", "created_at": local_time.now() - timedelta(days=days), "extra": {}})
    jobs.ingest()
    assert jobs.prune(30) == ([], 2)  # no partition is dropped, and two rows are deleted
    assert len(rows()) == 2
    assert db.session.scalar(sa.select(sa.func.sum(LogDay.events))) == 4
    result = app.test_cli_runner().invoke(args=["logs", "prune", "--days", "0"])
    assert result.exit_code == 2


def test_pruning_deletes_old_active_user_rows_and_keeps_the_sums(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_time, "now", lambda: datetime(2026, 3, 31, 17, 30, tzinfo=UTC))  # 1 April in Jakarta
    for day in (date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 31)):
        at = datetime.combine(day, time(23), local_time.JAKARTA)
        buffer.put({"log": "user", "user_id": 7, "created_at": at, "extra": {}})
    jobs.ingest()
    jobs.prune(30)
    assert db.session.scalars(sa.select(LogDayUser.day).order_by(LogDayUser.day)).all() == [
        date(2026, 3, 2),
        date(2026, 3, 31),
    ]
    assert db.session.scalar(sa.select(sa.func.sum(LogDay.active_users))) == 3
