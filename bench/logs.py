"""Benchmark of activity logs: the requests that send log records, and the storage of the records.

The benchmark compares storage in batches with storage by one job per record.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import orjson
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.lib import local_time
from app.logs import jobs, stream
from app.logs.models import ActivityLog
from bench.environment import BenchEnvironment, Result, at_least
from bench.wrk import Target
from dev.stack.waiting import wait_until

PEOPLE = 10
MANY = 50_000
#: Number of records for the measurement with one RQ job per record. The number is small, because each job takes a fork
#: and five round trips to Redis.
FEW = 150

RECORD = {
    "event_type": "click",
    "event_name": "buka_artikel",
    "screen_name": "Beranda",
    "activity_description": "Membuka artikel tentang diabetes",
    "session_id": "s-1",
    "user_ip": "203.0.113.7",
}


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(PEOPLE)
    target = Target(["/api/log/user-log"], method="POST", bodies=[json.dumps(RECORD)])
    yield from environment.compare({"POST /log/user-log": (0.6, target)})
    with environment.app.app_context():
        accepted = _stored() + stream.waiting()
        jobs_rate = _one_job_a_record(environment)
        _ingest_all()
        known = _stored()
        yield Result("logs lost or doubled", "0", f"{accepted + FEW - known}", accepted + FEW == known)
        for n in range(MANY):
            stream.add(record(n))
        started = time.perf_counter()
        _ingest_all()
        batches_rate = MANY / (time.perf_counter() - started)
        assert _stored() == known + MANY
    yield at_least("ingestion in batches", batches_rate / jobs_rate, 100, "times one job a record")


def record(n: int) -> dict[str, object]:
    row = {"log": "user", "user_id": 1 + n % PEOPLE, "created_at": local_time.now(), "extra": {}}
    return {**RECORD, **row, "session_id": f"s-{n}"}


def store_one(n: int) -> None:
    """Store one log record. The benchmark enqueues one job of this function per record, to compare it with batches."""
    with unit_of_work():
        jobs.store({f"bench-{n}": orjson.dumps(record(n)).decode()})


def _one_job_a_record(environment: BenchEnvironment) -> float:
    for n in range(FEW):
        queue.enqueue_now(store_one, n)
    before = _stored()
    with environment.running(workers=1):
        wait_until(lambda: _stored() > before)
        started, first = time.perf_counter(), _stored()
        wait_until(lambda: _stored() == before + FEW)
        return (before + FEW - first) / (time.perf_counter() - started)


def _ingest_all() -> None:
    while stream.waiting():
        jobs.ingest()


def _stored() -> int:
    with unit_of_work():
        return int(db.session.scalar(sa.select(sa.func.count()).select_from(ActivityLog)) or 0)
