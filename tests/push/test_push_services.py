"""Responses of push services, and their effect on the subscription and on the push."""

from datetime import timedelta

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.models import DeliveryState
from app.push.models import PushSubscription
from tests.notifications.deliveries import age
from tests.push.pushes import PAYLOAD, push_to, shown, subscribe


def test_a_404_or_410_from_the_push_service_deletes_the_subscription(caller, sim, browser, user_id):
    for status in (404, 410):
        subscription_id = subscribe(caller, browser, user_id)
        sim.fault("push", "status", status=status)
        assert push_to(subscription_id).state == DeliveryState.FAILED
        assert db.session.get(PushSubscription, subscription_id) is None, status


def test_refusals_fail_each_push_and_never_delete_the_subscription(caller, sim, browser, user_id, caplog):
    """A wrong setting of our key (400, 401, 403) must not delete everybody's subscriptions."""
    subscription_id = subscribe(caller, browser, user_id)
    statuses = (400, 401, 403, 413)
    for status in statuses:
        sim.fault("push", "status", status=status)
        row = push_to(subscription_id)
        assert (row.state, row.last_error) == (DeliveryState.FAILED, f"push: status {status}")
    assert [record.getMessage() for record in caplog.records].count("delivery failed") == len(statuses)
    push_to(subscription_id)
    assert shown(sim, browser) == [PAYLOAD]


def test_a_temporary_push_error_is_retried_and_keeps_the_subscription(caller, sim, browser, user_id, subtests):
    subscription_id = subscribe(caller, browser, user_id)
    statuses = (
        {"status": 429, "retry_after": 120},
        {"status": 406, "retry_after": 120},
        {"status": 503},
        {"status": 408},
    )
    for number, fault in enumerate((*({"kind": "status", **each} for each in statuses), {"kind": "drop"}), start=1):
        with subtests.test(str(fault)):
            sim.fault("push", **fault)
            before = local_time.now()
            row = push_to(subscription_id)
            assert row.state == DeliveryState.PENDING
            assert row.next_try_at - before >= timedelta(seconds=fault.get("retry_after", 1))
            age(200, of=row)
            jobs.drain("urgent")
            assert shown(sim, browser) == [PAYLOAD] * number


def test_only_the_status_of_a_response_matters_and_a_redirect_is_not_followed(caller, sim, browser, user_id):
    subscription_id = subscribe(caller, browser, user_id)
    sim.fault("push", "garbage")
    assert push_to(subscription_id).state == DeliveryState.SENT
    sim.fault("push", "redirect", location=f"{sim.url}/push/elsewhere")
    assert push_to(subscription_id).state == DeliveryState.FAILED
    assert len(sim.push.calls) == 2


def test_an_expired_subscription_does_not_stop_pushes_to_other_browsers(caller, sim, keys, user_id):
    browsers = [sim.push.subscribe(keys) for _ in range(3)]
    for browser in browsers:
        subscribe(caller, browser, user_id)
    sim.push.expire(browsers[0]["endpoint"])
    caller.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    assert [len(shown(sim, browser)) for browser in browsers] == [0, 1, 1]
