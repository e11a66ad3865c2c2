"""A sender that is down. Messages wait without an attempt, pushes continue, and the sender recovers by itself."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import Channel, DeliveryState
from app.notifications.senders import jobs as senders
from app.notifications.senders import sender_status
from app.notifications.senders.models import SenderState
from app.notifications.senders.models import senders as table
from app.providers.messenger import Health
from tests.helpers.client import Client
from tests.notifications.deliveries import add, drained
from tests.notifications.senders.looks import pass_time, rows, sender, sends, sends_of_fonnte


def test_an_account_error_stops_the_sender_and_is_not_counted_as_an_attempt(committed, sim, fonnte):
    sim.fault("messaging", "token_invalid", times=None)
    row = drained(add())
    assert (row.state, row.attempts, row.unconfirmed_calls) == (DeliveryState.PENDING, 0, 0)
    assert row.last_error
    assert sender().state == SenderState.DOWN
    jobs.drain("urgent")  # uses the try of this minute
    calls = len(sim.messaging.calls)
    for _ in range(3):
        drained(add())
    assert len(sim.messaging.calls) == calls
    sim.clear_faults()
    senders.check()
    assert sender().state == SenderState.DOWN  # a check does not see every problem
    pass_time(minutes=10)
    senders.check()
    assert sender().state == SenderState.UP
    jobs.drain("urgent")
    assert {each.state for each in rows()} == {DeliveryState.SENT}


def test_a_token_without_permission_for_the_check_does_not_stop_the_sender(committed, sim, whatsapp):
    drained(add())
    sim.fault("messaging", "code_200")
    senders.check()
    assert sender_status.current() is None
    drained(add())
    assert {row.state for row in rows()} == {DeliveryState.SENT}


def test_a_stopped_sender_tries_one_message_a_minute_and_recovers(committed, sim, whatsapp):
    sim.messaging.ban()
    for _ in range(5):
        drained(add())
    senders.check()  # the provider's health response shows no problem
    assert sender().state == SenderState.DOWN
    pass_time(minutes=1)
    jobs.drain("urgent")
    calls = sends(sim)
    jobs.drain("urgent")
    assert sends(sim) == calls
    pass_time(minutes=1)
    jobs.drain("urgent")
    assert sends(sim) == calls + 1
    sim.messaging.sender.banned = False
    pass_time(minutes=1)
    jobs.drain("urgent")
    assert sender().state == SenderState.UP
    pass_time(minutes=1)
    jobs.drain("urgent")
    assert {row.state for row in rows()} == {DeliveryState.SENT}
    assert len(sim.messaging.sent) == 5


def test_messages_wait_while_the_sender_is_down_and_unexpired_ones_are_sent(committed, sim, fonnte):
    sim.messaging.disconnect()
    senders.check()
    pushed = add(channel=Channel.PUSH_FAN_OUT)
    for n, minutes in enumerate((10, 60) * 5):
        add(dedupe_key=f"{minutes}:{n}", expires_at=local_time.now() + timedelta(minutes=minutes))
    assert drained(pushed).state == DeliveryState.SENT
    waiting = [row for row in rows() if row.channel == "messaging"]
    assert {(row.state, row.attempts, row.unconfirmed_calls) for row in waiting} == {(DeliveryState.PENDING, 0, 0)}
    assert sends_of_fonnte(sim) == 1  # the try of this minute
    pass_time(minutes=11)
    senders.check()
    jobs.drain("urgent")
    sim.messaging.connect()
    pass_time(minutes=10)
    senders.check()
    jobs.drain("urgent")
    states = {(row.dedupe_key[:2], row.state) for row in rows() if row.channel == "messaging"}
    assert states == {("10", DeliveryState.MISSED), ("60", DeliveryState.SENT)}
    assert len(sim.messaging.sent) == 5


def test_the_check_stores_the_quality_and_the_limit_of_the_number(app, sim, whatsapp):
    sim.messaging.sender.quality, sim.messaging.sender.limit = "YELLOW", 2000
    senders.check()
    assert (sender().quality, sender().limit_24h, sender().state) == ("yellow", 2000, "up")
    sim.messaging.sender.limit = None
    senders.check()
    assert sender().limit_24h is None


def test_a_failed_check_does_not_change_the_sender(app, sim, fonnte):
    senders.check()
    for kind in ("down", "garbage", "status"):
        sim.fault("messaging", kind)
        senders.check()
        assert sender().state == SenderState.UP, kind


def test_an_operator_sees_a_stopped_sender_in_all_reports_and_can_resume_it(committed, sim, fonnte):
    client = Client(committed)
    assert client.get("/readyz").json["checks"]["sender"] == "not known yet"
    sim.messaging.disconnect()
    senders.check()
    assert client.get("/readyz").ok()["checks"]["sender"].endswith("UTC: request invalid on disconnected device")
    assert any("no message leaves since" in problem for problem in delivery_metrics.worker_problems())
    page = client.get("/metrics").get_data(as_text=True)
    assert 'sender_state{provider="fonnte",state="down"} 1.0' in page
    assert 'sender_state{provider="fonnte",state="up"} 0.0' in page
    sim.messaging.connect()
    senders.check()
    assert not any("no message leaves" in problem for problem in delivery_metrics.worker_problems())


def test_without_a_provider_there_is_no_sender(app):
    senders.check()
    sender_status.record_health(Health(problem="made up"))
    assert sender_status.current() is None
    assert Client(app).get("/readyz").json["checks"]["sender"] == "none"


def test_health_checks_mention_that_no_provider_is_chosen(app, monkeypatch, change_settings):
    """`/readyz` and `worker-health` mention `MESSAGING_PROVIDER`, but succeed, because the operator chose the value."""
    monkeypatch.setattr(delivery_metrics, "worker_problems", list)
    said, runner = "MESSAGING_PROVIDER is outbox", app.test_cli_runner()
    assert said not in runner.invoke(args=["worker-health"]).output
    change_settings(environment="production")
    ready = Client(app).get("/readyz")
    assert (ready.status_code, ready.json["status"]) == (200, "ready")
    assert said in ready.json["checks"]["sender"]
    health_of_workers = runner.invoke(args=["worker-health"])
    assert health_of_workers.exit_code == 0
    assert said in health_of_workers.output


def test_a_repeated_check_does_not_change_the_time_of_the_state_change(app, sim, fonnte):
    sim.messaging.disconnect()
    senders.check()
    first = sender()
    db.session.execute(sa.update(table).values(since=table.c.since - timedelta(hours=1)))
    senders.check()
    assert sender().since == first.since - timedelta(hours=1)
    assert sender().reason == first.reason
