"""Drains with the simulated provider: all outcomes of calls, and channels that do not wait for each other."""

from dataclasses import replace
from datetime import timedelta
from threading import Event, Thread

import pytest
import sqlalchemy as sa
from rq import Queue
from rq.serializers import JSONSerializer
from rq.timeouts import JobTimeoutException

from app.core.database.session import db
from app.core.jobs import queue
from app.core.lib import local_time
from app.identity.models import User
from app.notifications import jobs
from app.notifications.delivery import claims, drain
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.delivery.claims import UndeliverableError
from app.notifications.models import Channel, DeliveryState
from app.notifications.senders import numbers, sender_status
from app.providers.http import ProviderError
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.helpers.client import Client
from tests.notifications.deliveries import add, age, committed_user, drained, reread, words_of
from tests.notifications.senders.numbers_of_people import make_invalid, pass_time


def test_every_due_message_is_sent_once(committed, gateway):
    rows = [add() for _ in range(20)]
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert sorted(m.text for m in gateway.messaging.sent) == sorted(words_of(row)["text"] for row in rows)
    row = reread(rows[0].dedupe_key)
    assert (row.state, row.attempts, row.last_error) == (DeliveryState.SENT, 1, None)
    assert row.provider_ref in {message.ref for message in gateway.messaging.sent}


def test_a_message_is_sent_to_the_persons_number_at_the_time_of_sending(committed, gateway):
    user = committed_user()
    row = add(user_id=user.id, target=None, due_at=local_time.now() + timedelta(minutes=30))
    db.session.get_one(User, user.id).phone = "+6281999999999"
    db.session.commit()
    age(1800, of=row)
    jobs.drain("urgent")
    assert [message.target for message in gateway.messaging.sent] == ["6281999999999"]


def test_a_message_for_a_fixed_number_fails_if_the_person_has_another_number(committed, gateway):
    user = committed_user()
    row = add(user_id=user.id, target="+628100000001")
    jobs.drain("urgent")
    assert not gateway.messaging.sent
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error) == (DeliveryState.FAILED, "the number has changed")


def test_a_number_invalid_on_two_days_is_flagged_and_gets_no_more_messages(committed, gateway):
    user = committed_user()
    gateway.messaging.mark_invalid(user.phone)
    rows = [add(user_id=user.id, target=None)]
    jobs.drain("urgent")
    assert db.session.get_one(User, user.id).phone_invalid_at is None
    pass_time(user, hours=24)
    db.session.commit()
    rows.append(add(user_id=user.id, target=None))
    jobs.drain("urgent")
    calls = len(gateway.messaging.calls)
    rows.append(add(user_id=user.id, target=None))
    jobs.drain("urgent")
    assert len(gateway.messaging.calls) == calls == 2
    assert {reread(row.dedupe_key).state for row in rows} == {DeliveryState.FAILED}
    assert db.session.get_one(User, user.id).phone_invalid_at is not None


@pytest.mark.parametrize(
    ("fault", "first", "is_valid", "second"),
    [
        (None, DeliveryState.SENT, True, DeliveryState.SENT),
        ("target_invalid", DeliveryState.FAILED, False, DeliveryState.FAILED),
        ("drop", DeliveryState.PENDING, False, DeliveryState.SENT),
    ],
)
def test_after_a_week_the_next_message_decides_about_a_number(committed, gateway, fault, first, is_valid, second):
    user = committed_user()
    make_invalid(user)
    pass_time(user, days=7)
    db.session.commit()
    if fault:
        gateway.fault("messaging", fault)
    assert drained(add(user_id=user.id, target=None)).state == first
    assert len(gateway.messaging.calls) == 1
    invalid_at = db.session.get_one(User, user.id, populate_existing=True).phone_invalid_at
    assert (invalid_at is None) is is_valid
    assert drained(add(user_id=user.id, target=None)).state == second


@pytest.mark.parametrize("note", ["accepted of a doubted number", "sender is up again"])
def test_a_sent_delivery_stays_sent_when_saving_the_number_or_sender_fails(committed, gateway, monkeypatch, note):
    """PostgreSQL fails after the provider call, while the new state of the number or of the sender is saved."""

    def fail(*_):
        raise sa.exc.OperationalError("UPDATE", {}, Exception("gone"))

    user = committed_user()
    if note.startswith("accepted"):
        numbers.refused(user.phone)
        db.session.commit()
        monkeypatch.setattr(numbers, "accepted", fail)
    else:
        monkeypatch.setattr(sender_status, "record_accepted", fail)
    row = drained(add(user_id=user.id, target=None))
    assert (row.state, row.unconfirmed_calls, len(gateway.messaging.calls)) == (DeliveryState.SENT, 0, 1)
    assert row.provider_ref


def test_the_retry_after_of_a_provider_is_respected(committed, gateway):
    row = add()
    gateway.fault("messaging", "status", status=429, retry_after=300)
    asked = local_time.now()
    assert drained(row).next_try_at - asked >= timedelta(seconds=300)


def test_a_delivery_that_raises_an_error_does_not_stop_the_others(committed, gateway):
    broken, fine = add(payload={}), add()
    assert drained(broken).state == DeliveryState.PENDING
    assert reread(fine.dedupe_key).state == DeliveryState.SENT


def test_a_hanging_channel_does_not_block_another_channel(committed, gateway, monkeypatch):
    hanging, let_go, pushed = Event(), Event(), Event()

    def hang(_):
        hanging.set()
        let_go.wait(PATIENCE_S)
        raise UndeliverableError("let go")

    transports = {Channel.MESSAGING: hang, Channel.PUSH: lambda _: pushed.set()}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    for _ in range(20):
        add()

    def work():
        with committed.app_context():
            jobs.drain("urgent")

    thread = Thread(target=work)
    thread.start()
    assert hanging.wait(PATIENCE_S)
    add(channel=Channel.PUSH)
    assert pushed.wait(PATIENCE_S)  # all calls of the other channel still hang
    let_go.set()
    thread.join()


def test_a_drain_that_is_ended_by_its_job_timeout_claims_no_more_deliveries(committed, monkeypatch):
    lanes = []

    class EndedLane(drain.Lane):
        def start(self):
            lanes.append(self)
            raise JobTimeoutException

    monkeypatch.setattr(drain, "Lane", EndedLane)
    row = add()
    with pytest.raises(JobTimeoutException):
        jobs.drain("urgent")
    assert not any(lane.send_next() for lane in lanes)
    assert reread(row.dedupe_key).state == DeliveryState.PENDING


def test_an_urgent_drain_leaves_bulk_deliveries_and_a_bulk_drain_sends_both(committed, gateway):
    def states():
        return [reread(row.dedupe_key).state for row in (first, second, bulk)]

    first, bulk = add(), add(queue="bulk")
    jobs.drain("urgent")
    second = add()
    assert states() == [DeliveryState.SENT, DeliveryState.PENDING, DeliveryState.PENDING]
    jobs.drain("bulk")
    assert states() == [DeliveryState.SENT] * 3


def waiting(name):
    """Return the jobs of a queue: function name, arguments, and timeout in seconds."""
    jobs_of = Queue(name, connection=queue.connection(), serializer=JSONSerializer).jobs
    return [(str(job.func_name).rpartition(".")[2], tuple(job.args), int(job.timeout or 0)) for job in jobs_of]


def test_the_scheduler_enqueues_one_drain_for_due_deliveries_and_a_second_if_one_is_ten_seconds_late(committed):
    job = ("drain", ("urgent",), 35)
    row = add(due_at=local_time.now() + timedelta(minutes=30))
    jobs.enqueue_due()
    assert (waiting("urgent"), waiting("bulk")) == ([], [])
    age(1800, of=row)
    for _ in range(3):
        jobs.enqueue_due()
    assert (waiting("urgent"), waiting("bulk")) == ([job], [])
    age(11, of=row)
    jobs.enqueue_due()
    assert (waiting("urgent"), waiting("bulk")) == ([job], [job])


def test_the_scheduler_sends_due_deliveries_itself_without_redis(committed, gateway, monkeypatch):
    from app.core.jobs.redis import WEB, connect

    row = add()
    monkeypatch.setitem(committed.extensions, "redis", connect("redis://127.0.0.1:1/0", **WEB))
    jobs.enqueue_due()
    wait_until(lambda: reread(row.dedupe_key).state == DeliveryState.SENT)
    assert len(gateway.messaging.sent) == 1


def test_metrics_count_sent_failed_and_due_deliveries(committed, gateway):
    add()
    gateway.messaging.mark_invalid("+62000")
    drained(add(target="+62000"))
    waiting = add(queue="bulk")
    age(120, of=waiting)
    page = Client(committed).get("/metrics").get_data(as_text=True)
    assert 'deliveries_last_hour{channel="messaging",state="sent"} 1.0' in page
    assert 'deliveries_last_hour{channel="messaging",state="failed"} 1.0' in page
    assert 'deliveries_last_hour{channel="push",state="sent"} 0.0' in page
    assert 'deliveries_due{channel="messaging",queue="bulk"} 1.0' in page


def test_health_checks_report_late_deliveries_and_missing_workers(committed):
    assert Client(committed).get("/readyz").json["checks"]["deliveries"] == "oldest due for 0 s"
    late = add()
    age(300, of=late)
    told = Client(committed).get("/readyz").json["checks"]["deliveries"]
    oldest_s = (local_time.now() - late.due_at).total_seconds() + 300
    assert 300 <= int(told.removeprefix("oldest due for ").removesuffix(" s")) <= oldest_s + 1
    problems = delivery_metrics.worker_problems()
    assert len(problems) == 4
    assert any("urgent" in problem for problem in problems)


def test_prune_deletes_old_settled_deliveries_and_keeps_open_ones(committed, gateway):
    old, fresh = add(), add()
    jobs.drain("urgent")
    waiting = add()
    for row in (old, waiting):
        age(jobs.KEEP_DAYS * 86400 + 60, of=row)
    jobs.prune()
    left = set(db.session.scalars(sa.text("SELECT dedupe_key FROM deliveries")))
    assert left == {fresh.dedupe_key, waiting.dedupe_key}


# --- a busy provider gets few calls -----------------------------------------------------------------------------------


def test_a_busy_response_closes_the_lane_and_is_not_counted_as_an_attempt(committed, monkeypatch):
    calls = []

    def busy(delivery):
        calls.append(delivery.id)
        claims.begin(delivery)
        raise ProviderError("messaging", "busy", retry_after=60.0)

    keys = [add().dedupe_key for _ in range(40)]
    transports = {Channel.MESSAGING: busy}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    jobs.drain("urgent")
    assert 0 < len(calls) <= drain.THREADS
    outcomes = {(row.state, row.attempts, row.unconfirmed_calls) for row in map(reread, keys)}
    assert outcomes == {(DeliveryState.PENDING, 0, 0)}
