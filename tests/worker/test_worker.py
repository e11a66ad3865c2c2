"""A worker process: its scheduler, its jobs, and its behaviour when it is stopped or killed."""

import json
import os
import signal
from datetime import timedelta
from time import sleep

import pytest
from rq.serializers import JSONSerializer, PickleSerializer

from app.core.jobs import queue
from app.core.jobs.schedule import HEARTBEAT
from app.core.lib import local_time
from app.notifications.delivery import claims
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import DeliveryState
from app.providers import messaging
from dev.stack.outages import frozen
from dev.stack.waiting import wait_until
from dev.system_packages import require
from tests.helpers.client import Client
from tests.notifications.deliveries import add, age, reread, words_of
from tests.notifications.senders.looks import sends_of_fonnte
from tests.worker.running import is_running

pytestmark = [pytest.mark.takes(seconds=70), pytest.mark.processes]


def ticks():
    """Return whether Redis has the key `HEARTBEAT`, which each tick of a scheduler stores."""
    return bool(queue.connection().exists(HEARTBEAT))


def sent(key):
    return lambda: reread(key).state == DeliveryState.SENT


def test_one_worker_serves_both_queues_and_sends_scheduled_deliveries(start_worker, sim):
    worker = start_worker()
    worker.clock()
    at_once, bulk = add(), add(queue="bulk")
    later = add(due_at=local_time.now() + timedelta(seconds=2))
    wait_until(lambda: all(sent(row.dedupe_key)() for row in (at_once, bulk, later)))
    row = reread(later.dedupe_key)
    assert row.settled_at is not None
    assert row.settled_at >= row.due_at  # no upper limit here: `make bench T=deliveries` measures the delay
    assert len(sim.messaging.sent) == 3
    assert delivery_metrics.worker_problems() == []
    assert worker.end() == 0


@pytest.mark.parametrize("offset", ["+2h", "-3h"])
def test_a_worker_whose_clock_is_wrong_sends_on_time(start_worker, sim, offset):
    """The clock of PostgreSQL decides when a delivery is due. libfaketime changes the worker's clock."""
    start_worker(LD_PRELOAD=str(require("libfaketime")), FAKETIME=offset, FAKETIME_DONT_FAKE_MONOTONIC="1")
    due, later = (add(due_at=local_time.now() + timedelta(seconds=seconds)) for seconds in (4, 3600))
    wait_until(sent(due.dedupe_key))
    assert sim.messaging.sent[0].at >= due.due_at.timestamp()
    assert reread(later.dedupe_key).state == DeliveryState.PENDING


def test_a_job_is_logged_as_json_without_message_text_or_phone_number(start_worker):
    worker = start_worker("urgent")
    row = add()
    wait_until(sent(row.dedupe_key))
    worker.end()
    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    job = next(line for line in lines if line.get("job") == "app.notifications.jobs.drain")
    assert job["outcome"] == "done"
    assert job["job_id"]
    text = worker.log.read_text()
    assert words_of(row)["text"] not in text
    assert (row.target or "?") not in text


def test_a_killed_scheduler_is_restarted(start_worker):
    worker = start_worker()
    first = worker.clock()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: set(worker.children()) - {first} != set())
    row = add(due_at=local_time.now() + timedelta(seconds=1))
    wait_until(sent(row.dedupe_key))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_scheduler_ends_with_its_worker(start_worker, number):
    worker = start_worker()
    child = worker.clock()
    wait_until(ticks)
    worker.end(number)
    wait_until(lambda: not is_running(child))


def test_a_delivery_claimed_by_a_killed_worker_is_retried_after_its_lease(start_worker, sim):
    sim.fault("messaging", "hang", match="/send", seconds=30)
    worker = start_worker()
    row = add()
    wait_until(lambda: reread(row.dedupe_key).state == DeliveryState.CLAIMED and sends_of_fonnte(sim) == 1)
    for pid in worker.children():
        os.kill(pid, signal.SIGKILL)
    queue.connection().delete(HEARTBEAT)
    wait_until(ticks)
    assert reread(row.dedupe_key).state == DeliveryState.CLAIMED  # nobody may claim the row before its lease ends
    age(claims.LEASE_S, of=row)
    wait_until(sent(row.dedupe_key))
    assert reread(row.dedupe_key).worker_crashes == 1
    assert len(sim.messaging.sent) == 1


def test_a_call_under_way_in_a_frozen_worker_is_repeated_at_most_once(start_worker, sim):
    sim.fault("messaging", "latency", match="/send", seconds=1.0)
    worker = start_worker()
    row = add()
    wait_until(lambda: sends_of_fonnte(sim) == 1)
    with frozen(worker.pid):
        wait_until(lambda: len(sim.messaging.sent) == 1)
        sleep(messaging.BUDGET_S)  # the worker is frozen for longer than a call may take
    wait_until(sent(row.dedupe_key))
    assert sends_of_fonnte(sim) <= 2


def test_a_pickled_job_is_not_run(start_worker, tmp_path):
    from rq import Queue

    marker = f"{tmp_path}/ran"
    for serializer in (PickleSerializer, JSONSerializer):
        Queue("urgent", connection=queue.connection(), serializer=serializer).enqueue(
            "os.mkdir", args=(f"{marker}-{serializer.__name__}",)
        )
    worker = start_worker("urgent")
    wait_until(lambda: os.path.isdir(f"{marker}-JSONSerializer"))  # noqa: PTH112
    assert not os.path.isdir(f"{marker}-PickleSerializer")  # noqa: PTH112
    row = add()
    wait_until(sent(row.dedupe_key))
    assert worker.process.poll() is None


def test_no_delivery_is_lost_if_redis_is_flushed_and_disconnected(committed, start_worker):
    worker = start_worker()
    worker.clock()
    later = add(due_at=local_time.now() + timedelta(minutes=5))
    for _ in range(3):
        rows = [add(due_at=local_time.now() + timedelta(seconds=n / 4)) for n in range(4)]  # some rows are not due yet
        queue.connection().flushdb()
        database = queue.connection().connection_pool.connection_kwargs["db"]
        for client in queue.connection().client_list():
            if client["db"] == str(database) and client["cmd"] != "client|list":
                queue.connection().client_kill_filter(_id=client["id"])
        wait_until(lambda rows=rows: all(sent(row.dedupe_key)() for row in rows))
    assert not sent(later.dedupe_key)()
    assert worker.process.poll() is None


def test_metrics_include_worker_counts(committed, start_worker, tmp_path):
    # An operator may set this variable for all processes. Only gunicorn creates the folder that the variable names, so
    # a worker must run without the folder.
    start_worker("urgent", PROMETHEUS_MULTIPROC_DIR=str(tmp_path / "none"))
    row = add()
    wait_until(sent(row.dedupe_key))
    page = Client(committed).get("/metrics").text
    assert 'workers{queue="urgent"} 1.0' in page
    assert 'workers{queue="bulk"} 0.0' in page
    assert "clock_tick_age_seconds +Inf" not in page


def test_urgent_deliveries_are_sent_while_a_worker_process_hangs(start_worker, sim):
    urgent, _ = start_worker("urgent"), start_worker("bulk")
    sim.fault("messaging", "hang", match="/send", seconds=30)
    add()
    wait_until(lambda: sends_of_fonnte(sim) == 1)
    frozen = {urgent.pid, *urgent.children()} - {urgent.clock()}
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        rows = [add() for _ in range(3)]
        wait_until(lambda: all(sent(row.dedupe_key)() for row in rows))
    finally:
        for pid in frozen - {urgent.pid}:
            os.kill(pid, signal.SIGKILL)
