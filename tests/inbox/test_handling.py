"""Each event is handled exactly once, although workers may die or run at the same time."""

from datetime import timedelta
from itertools import count

import pytest
import sqlalchemy as sa
from redis.exceptions import ConnectionError as RedisAwayError
from sqlalchemy.exc import OperationalError

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.lib import local_time
from app.inbox import jobs
from app.inbox.handlers import InboundHandlers
from app.notifications.models import Inbound, InboundKind
from tests.helpers.controlled import WorkerKilled
from tests.helpers.overlap import run_together
from tests.inbox.phones import rows

_numbers = count(1)


class Ear:
    def __init__(self):
        self.heard = []
        self.broken = None
        self.locked = None

    def __call__(self, row):
        self.heard.append(row.text)
        if self.broken:
            raise self.broken
        if row.phone == self.locked:
            db.session.execute(sa.text("SET LOCAL statement_timeout = 10"))
            db.session.execute(sa.text("SELECT pg_sleep(5)"))
        return "heard"


def _ignore(*_):
    pass


@pytest.fixture
def ear(real_app, monkeypatch):
    ear = Ear()
    monkeypatch.setitem(
        real_app.extensions, "inbound_handlers", InboundHandlers({InboundKind.MESSAGE: ear}, _ignore, _ignore)
    )
    return ear


def came(text="SUDAH", phone="+6281200000001", **fields):
    with unit_of_work():
        key = f"handling:{next(_numbers)}"
        values = {"provider": "test", "event_key": key, "kind": InboundKind.MESSAGE, "phone": phone, "text": text}
        db.session.add(Inbound(**{**values, **fields}))


def outcomes():
    return [row.outcome for row in rows()]


def test_inbound_messages_are_handled_once_in_order(app, ear):
    for text in ("satu", "dua", "tiga"):
        came(text)
    jobs.handle()
    jobs.handle()
    assert ear.heard == ["satu", "dua", "tiga"]
    assert outcomes() == ["heard"] * 3
    assert all(row.handled_at for row in rows())


def test_an_inbound_row_without_a_handler_is_ignored(app, ear):
    came(kind=InboundKind.DEVICE)
    jobs.handle()
    assert outcomes() == ["ignored"]


def test_a_failing_handler_does_not_block_later_rows(app, ear):
    came("satu")
    came("dua", phone="+6281200000002")
    ear.broken = ZeroDivisionError
    jobs.handle()
    ear.broken = None
    came("tiga")
    jobs.handle()
    assert outcomes() == ["failed: ZeroDivisionError"] * 2 + ["heard"]


@pytest.mark.parametrize("moment", ["in the handler", "before the commit"])
def test_a_killed_worker_leaves_the_row_unhandled_for_a_retry(committed, ear, monkeypatch, moment):
    came()
    with monkeypatch.context() as patch:

        def die(*_):
            raise WorkerKilled

        if moment == "in the handler":
            patch.setattr(ear, "broken", WorkerKilled)
        else:
            patch.setattr(db.session(), "commit", die)
        with pytest.raises(WorkerKilled):
            jobs.handle()
        db.session.remove()
    assert outcomes() == [None]
    jobs.handle()
    assert outcomes() == ["heard"]


def test_a_database_connection_error_leaves_the_row_unhandled(app, ear):
    class Away(OperationalError):
        def __init__(self):
            super().__init__("", None, Exception("away"))

    came()
    ear.broken = Away
    with pytest.raises(OperationalError):
        jobs.handle()
    assert outcomes() == [None]


def test_a_statement_timeout_delays_only_rows_of_the_same_sender(app, ear):
    came("satu")
    came("dua")
    came("tiga", phone="+6281200000002")
    ear.locked = "+6281200000001"
    jobs.handle()
    assert (ear.heard, outcomes()) == (["satu", "tiga"], [None, None, "heard"])
    ear.locked = None
    jobs.handle()
    assert outcomes() == ["heard"] * 3


def test_concurrent_workers_handle_each_row_once_in_order_per_sender(committed, ear):
    for n in range(60):
        came(f"{n % 3}:{n}", phone=f"+62812000000{n % 3}")
    run_together(committed, *[jobs.handle] * 4)
    jobs.handle()  # one more run, for messages skipped because another worker handled the same phone
    assert outcomes() == ["heard"] * 60
    assert len(ear.heard) == 60
    for person in range(3):
        numbers = [int(text.split(":")[1]) for text in ear.heard if text and text.startswith(f"{person}:")]
        assert numbers == sorted(numbers)


def test_the_number_of_waiting_rows_is_in_the_metrics(app, ear, client):
    for _ in range(2):
        came()
    page = client.get("/metrics").text
    assert "inbound_waiting 2.0" in page
    jobs.handle()
    assert "inbound_waiting 0.0" in client.get("/metrics").text


def test_one_job_is_enqueued_only_when_inbound_rows_are_waiting(app, ear):
    jobs.enqueue_open()
    assert queue.connection().llen("rq:queue:urgent") == 0
    came()
    jobs.enqueue_open()
    jobs.enqueue_open()
    assert queue.connection().llen("rq:queue:urgent") == 1


def test_without_redis_the_rows_are_handled_directly(app, ear, monkeypatch):
    def away(*_, **__):
        raise RedisAwayError

    monkeypatch.setattr(jobs, "enqueue_once_now", away)
    came()
    jobs.enqueue_open()
    assert outcomes() == ["heard"]


def test_message_texts_and_receipts_are_deleted_after_thirty_days_in_several_batches(app, ear, monkeypatch):
    monkeypatch.setattr(jobs, "FORGET_BATCH", 1)
    for days in (29, 31, 401):
        moment = local_time.now() - timedelta(days=days)
        came(str(days), received_at=moment)
        came(kind=InboundKind.RECEIPT, text=None, received_at=moment, payload={"receipt": "read"})
    jobs.delete_old()
    assert [(row.kind, row.text) for row in rows()] == [("message", "29"), ("receipt", None), ("message", None)]
