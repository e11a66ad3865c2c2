"""Faults of one provider, which must not affect the other channel."""

from threading import Thread

import pytest

from app.core.database.session import unit_of_work
from app.notifications import jobs
from app.notifications.delivery import settlements
from app.notifications.models import Channel, DeliveryState
from app.push import service as push
from dev.stack.waiting import wait_until
from tests.helpers.factories import make_user, signed_in
from tests.notifications.deliveries import add, reread

pytestmark = [pytest.mark.takes(seconds=30), pytest.mark.processes]

FAULTS = [
    ("down", {}),
    ("hang", {}),
    ("garbage", {}),
    ("status", {"status": 429, "retry_after": 30}),
]


def subscribed(sim, public_key):
    browser = sim.push.subscribe(public_key)
    with unit_of_work():
        user_id = make_user().id
    caller = signed_in(user_id)
    with unit_of_work():
        row, _ = push.subscribe({**browser, "user_id": None}, caller)
        return row.id


@pytest.mark.parametrize("broken", ["messaging", "push"])
@pytest.mark.parametrize(("kind", "options"), FAULTS, ids=[kind for kind, _ in FAULTS])
def test_a_failing_provider_is_retried_and_does_not_delay_the_other_channel(
    committed, gateway, monkeypatch, keys, kind, options, broken
):
    monkeypatch.setattr(settlements, "retry_delay_s", lambda *_: 600.0)  # no retry is due during the test
    subscription = str(subscribed(gateway, keys))
    gateway.fault(broken, kind, times=None, **options)
    words = {"title": "Halo", "body": "Halo"}

    def add_one(channel):
        if channel == "messaging":
            return add().dedupe_key
        return add(channel=Channel.PUSH, target=subscription, words=words).dedupe_key

    failing = [add_one(broken) for _ in range(4)]

    def drain():
        with committed.app_context():
            jobs.drain("urgent")

    drains = [Thread(target=drain), Thread(target=drain)]  # the second thread simulates the job of the next tick
    drains[0].start()
    fine = add_one("push" if broken == "messaging" else "messaging")
    drains[1].start()
    wait_until(lambda: reread(fine).state == DeliveryState.SENT)
    hangs = kind == "hang"
    assert any(each.is_alive() for each in drains) or not hangs  # a drain still waits for a hanging provider
    for each in drains:
        each.join()
    for key in failing:
        row = reread(key)
        if broken == "push" and kind == "garbage":
            assert row.state == DeliveryState.SENT  # only the status of a push service's response matters
        else:
            assert (row.state, row.attempts) == (DeliveryState.PENDING, 1)
            assert row.last_error
            # The simulator keeps the call open for a minute, so an earlier end is our own timeout.
            assert ("timeout" in row.last_error) == hangs
