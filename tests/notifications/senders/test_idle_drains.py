"""Drains while the sender is down: no job is enqueued for messages that wait for the sender."""

from datetime import timedelta

import pytest
from rq import Queue

from app.core.jobs.queue import QUEUES, connection
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.models import Channel
from app.notifications.senders import sender_status
from app.providers.messenger import SenderError
from tests.notifications.deliveries import add
from tests.notifications.senders.looks import pass_time


def enqueued():
    """Run one tick. Remove the jobs that it enqueued, and return their queues."""
    sender_status.clear_cache()
    connection().delete(*connection().keys("queued:*"), *connection().keys("rq:*"), "none")
    jobs.enqueue_due()
    return [name for name in QUEUES for _ in Queue(name, connection=connection()).job_ids]


@pytest.fixture(autouse=True)
def _waiting(committed, sim, whatsapp):
    """Add a message that is due for a minute, and a sender that is down."""
    add(expires_at=local_time.now() + timedelta(minutes=61))
    pass_time(minutes=1)
    sender_status.record_error(SenderError("messaging", "code 131031"))
    sender_status.may_claim(Channel.MESSAGING)  # the try of this minute


def test_a_waiting_message_enqueues_no_drain():
    assert enqueued() == []
    sender_status.record_accepted()
    assert enqueued() == ["urgent", "bulk"]


def test_a_waiting_message_enqueues_drains_for_one_trial_a_minute():
    pass_time(minutes=1)
    assert enqueued() == ["urgent", "bulk"]
    assert sender_status.may_claim(Channel.MESSAGING)
    assert enqueued() == []


def test_a_due_push_enqueues_a_drain_while_messages_wait():
    add(channel=Channel.PUSH_FAN_OUT)
    assert enqueued() == ["urgent"]
