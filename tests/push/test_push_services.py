"""Responses of push services, and their effect on the subscription and on the push."""

from datetime import timedelta

import pytest

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.models import Channel, DeliveryState
from app.push.models import PushSubscription
from tests.helpers.client import Client
from tests.notifications.deliveries import add, age, reread
from tests.push.pushes import PAYLOAD, shown, subscribe


@pytest.fixture
def client(committed, keys):
    return Client(committed)


@pytest.mark.parametrize("status", [404, 410])
def test_a_404_or_410_from_the_push_service_deletes_the_subscription(client, sim, browser, user_id, status):
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "status", status=status)
    row = add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.FAILED
    assert db.session.get(PushSubscription, subscription_id) is None


@pytest.mark.parametrize("status", [400, 401, 403])
def test_refusals_of_our_key_fail_each_push_and_never_delete_the_subscription(
    client, sim, browser, user_id, status, caplog
):
    """A wrong setting of our key must not delete everybody's subscriptions."""
    subscription_id = subscribe(client, browser, user_id)
    for _ in range(3):
        sim.fault("push", "status", status=status)
        row = add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
        jobs.drain("urgent")
        row = reread(row.dedupe_key)
        assert (row.state, row.last_error) == (DeliveryState.FAILED, f"push: status {status}")
    assert [record.getMessage() for record in caplog.records].count("delivery failed") == 3
    add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert shown(sim, browser) == [PAYLOAD]


def test_a_push_refused_as_too_large_fails_and_keeps_the_subscription(client, sim, browser, user_id):
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "status", status=413)
    row = add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.FAILED
    assert db.session.get(PushSubscription, subscription_id) is not None


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("status", {"status": 429, "retry_after": 120}),
        ("status", {"status": 406, "retry_after": 120}),
        ("status", {"status": 503}),
        ("status", {"status": 408}),
        ("drop", {}),
    ],
)
def test_a_temporary_push_error_is_retried_and_keeps_the_subscription(client, sim, browser, user_id, kind, options):
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", kind, **options)
    row = add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
    before = local_time.now()
    jobs.drain("urgent")
    row = reread(row.dedupe_key)
    assert row.state == DeliveryState.PENDING
    if "retry_after" in options:
        assert row.next_try_at - before >= timedelta(seconds=options["retry_after"])
    age(200, of=row)
    jobs.drain("urgent")
    assert shown(sim, browser) == [PAYLOAD]


def test_a_redirect_is_not_followed(client, sim, browser, user_id):
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "redirect", location=f"{sim.url}/push/elsewhere")
    row = add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == DeliveryState.FAILED
    assert len(sim.push.calls) == 1


def test_an_expired_subscription_does_not_stop_pushes_to_other_browsers(client, sim, keys, user_id):
    browsers = [sim.push.subscribe(keys) for _ in range(3)]
    for browser in browsers:
        subscribe(client, browser, user_id)
    sim.push.expire(browsers[0]["endpoint"])
    client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    assert [len(shown(sim, browser)) for browser in browsers] == [0, 1, 1]
