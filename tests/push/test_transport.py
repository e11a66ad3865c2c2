"""From `/push/send` and from reminders to what a browser shows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.lib import clock
from app.identity.models import User
from app.notifications import jobs
from app.notifications.models import Channel, State
from app.notifications.senders.models import PhoneNumber
from app.push.models import PushSubscription
from dev.simulators import Server
from tests.client import Client, assert_error
from tests.factories import make_user
from tests.notifications.conftest import add, age, reread

PAYLOAD = {"title": "Halo", "body": "Ada kabar ☺", "url": "/forum/5"}


@pytest.fixture
def client(committed: Flask, keys: str) -> Client:
    return Client(committed)


@pytest.fixture
def user_id() -> int:
    with unit_of_work():
        user = make_user()
    return user.id


def subscribe(client: Client, browser: dict[str, Any], user_id: int, *, proven: bool = False) -> int:
    subscription_id: int = client.post("/push/subscribe", {**browser, "user_id": user_id}).json["id"]
    if proven:
        db.session.execute(sa.update(PushSubscription).filter_by(id=subscription_id).values(is_verified=True))
        db.session.commit()
    return subscription_id


def remind(user_id: int, kind: str = "reminder", **fields: Any) -> str:
    """A reminder's push to a person."""
    row = add(
        kind=kind,
        channel=Channel.PUSH_FAN_OUT,
        user_id=user_id,
        target=None,
        payload={"title": "Pengingat: obat", "body": "Waktunya minum Metformin."},
        **fields,
    )
    return row.dedupe_key


def shown(sim: Server, browser: dict[str, Any]) -> list[Any]:
    return [json.loads(message.text or "null") for message in sim.push.shown(browser["endpoint"])]


def test_a_push_reaches_every_browser_of_the_person(client: Client, sim: Server, keys: str, user_id: int) -> None:
    browsers = [sim.push.subscribe(keys) for _ in range(2)]
    for browser in browsers:
        subscribe(client, browser, user_id)
    response = client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    assert response.status_code == 200
    assert response.json == {"sent": 0, "failed": 0, "removed": 0, "queued": 2}
    jobs.drain("urgent")
    assert [shown(sim, browser) for browser in browsers] == [[PAYLOAD], [PAYLOAD]]
    message = sim.push.messages[0]
    assert (message.error, message.ttl, message.urgency) == (None, 86400, "normal")


def test_nobody_known_and_nobody_subscribed_look_alike(client: Client, user_id: int) -> None:
    zeros = {"sent": 0, "failed": 0, "removed": 0, "queued": 0}
    for target in (user_id, 999_999):
        response = client.post("/push/send", {"user_id": target, "payload": PAYLOAD})
        assert (response.status_code, response.json) == (200, zeros)


@pytest.mark.parametrize(
    ("title", "seen"), [("Menang di judi.com sekarang", "Menang di sekarang"), ("https://judi.com", "Pemberitahuan")]
)
def test_a_title_shows_no_web_address(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, title: str, seen: str
) -> None:
    subscribe(client, browser, user_id)
    client.post("/push/send", {"user_id": user_id, "payload": {**PAYLOAD, "title": title}})
    jobs.drain("urgent")
    assert shown(sim, browser) == [{**PAYLOAD, "title": seen}]


def test_payloads_are_bounded(client: Client, user_id: int) -> None:
    sent = {"title": "T", "body": "x" * 2600}
    assert client.post("/push/send", {"user_id": user_id, "payload": sent}).status_code == 200
    sent["body"] = "☺" * 1000
    assert_error(client.post("/push/send", {"user_id": user_id, "payload": sent}), 413)


@pytest.mark.parametrize("url", ["/", "/forum/5?a=b#c", "http://localhost:5173/forum", "http://localhost:5173"])
def test_links_into_the_front_end_are_fine(client: Client, user_id: int, url: str) -> None:
    assert client.post("/push/send", {"user_id": user_id, "payload": {**PAYLOAD, "url": url}}).status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        "//evil.example", "/\\evil.example", "https://evil.example/", "http://localhost:5173.evil.example/",
        "http://localhost:5173@evil.example/", "javascript:alert(1)", "data:text/html,x", "evil", "http://[",
        "/a\tb",
    ],
)  # fmt: skip
def test_links_elsewhere_are_refused(client: Client, user_id: int, url: str) -> None:
    assert_error(client.post("/push/send", {"user_id": user_id, "payload": {**PAYLOAD, "url": url}}), 400)


@pytest.mark.parametrize(
    "sent",
    [{}, {"user_id": 1}, {"user_id": "x", "payload": PAYLOAD}, {"user_id": 1, "payload": {"title": "T"}},
     {"user_id": 1, "payload": "teks"}, {"user_id": 1, "payload": {**PAYLOAD, "title": ""}}],
)  # fmt: skip
def test_wrong_pushes_are_refused(client: Client, sent: dict[str, Any]) -> None:
    assert_error(client.post("/push/send", sent), 400)


def test_a_reminder_is_urgent_short_lived_and_collapses_by_topic(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    subscribe(client, browser, user_id, proven=True)
    remind(user_id)
    jobs.drain("urgent")
    jobs.drain("urgent")
    (message,) = sim.push.messages
    assert json.loads(message.text or "")["body"] == "Waktunya minum Metformin."
    assert 3500 < message.ttl <= 3600
    assert message.urgency == "high"
    assert message.topic is not None
    assert len(message.topic) == 32
    remind(user_id)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert sim.push.messages[1].topic != message.topic


def test_a_machine_whose_clock_is_ahead_shortens_the_life_of_no_push(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribe(client, browser, user_id, proven=True)
    remind(user_id)
    ahead = clock.now() + timedelta(days=2)
    monkeypatch.setattr(clock, "now", lambda: ahead)
    client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    jobs.drain("urgent")
    lives = {message.urgency: message.ttl for message in sim.push.messages}
    assert lives["normal"] == 86400
    assert 3500 < lives["high"] <= 3600
    expires_in = db.session.scalar(sa.text("SELECT expires_at - due_at FROM deliveries WHERE kind = 'push'"))
    assert timedelta(hours=23) < expires_in <= timedelta(days=1)


@pytest.mark.parametrize("kind", ["reminder", "stock"])
def test_a_claimed_browser_learns_only_that_there_is_a_reminder(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, kind: str
) -> None:
    subscribe(client, browser, user_id)
    remind(user_id, kind)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == [{"title": "Pengingat", "body": "Anda punya pengingat"}]


@pytest.mark.parametrize("evidence", ["refused", "silent", None])
def test_the_push_of_somebody_whom_messages_do_not_reach_says_so(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, evidence: str | None
) -> None:
    subscribe(client, browser, user_id, proven=True)
    user = db.session.get_one(User, user_id)
    if evidence == "refused":
        user.phone_invalid_at = clock.now()
    elif evidence == "silent":
        db.session.add(PhoneNumber(phone=user.phone, silent_at=clock.now()))
    db.session.commit()
    remind(user_id)
    jobs.drain("urgent")
    jobs.drain("urgent")
    more = " Pesan WhatsApp ke nomor HP Anda tidak sampai. Periksa nomor Anda di profil." if evidence else ""
    assert [each["body"] for each in shown(sim, browser)] == [f"Waktunya minum Metformin.{more}"]


def test_a_claimed_browser_is_not_told_that_messages_do_not_arrive(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    subscribe(client, browser, user_id)
    db.session.get_one(User, user_id).phone_invalid_at = clock.now()
    db.session.commit()
    remind(user_id)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == [{"title": "Pengingat", "body": "Anda punya pengingat"}]


def test_a_browser_subscribed_after_the_planning_is_reminded_too(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    remind(user_id)
    subscribe(client, browser, user_id, proven=True)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert len(shown(sim, browser)) == 1


def test_a_cancelled_reminder_takes_its_pushes_along(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    from app.notifications import outbox

    subscribe(client, browser, user_id)
    sim.fault("push", "status", status=503)
    remind(user_id, subject="pengingat:1")
    jobs.drain("urgent")
    jobs.drain("urgent")
    with unit_of_work():
        assert outbox.cancel("pengingat:1") == 1
    assert not sim.push.messages


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_forgotten(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, status: int
) -> None:
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "status", status=status)
    row = add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.FAILED
    assert db.session.get(PushSubscription, subscription_id) is None


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_browser_of_other_keys_is_forgotten_the_second_time(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, status: int
) -> None:
    subscription_id = subscribe(client, browser, user_id)
    for left in (True, False):
        sim.fault("push", "status", status=status)
        add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
        jobs.drain("urgent")
        db.session.expire_all()
        assert (db.session.get(PushSubscription, subscription_id) is not None) is left


def test_a_push_that_went_through_forgives_the_refusals_before(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    subscription_id = subscribe(client, browser, user_id)
    for status in (403, None, 403):
        if status:
            sim.fault("push", "status", status=status)
        add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
        jobs.drain("urgent")
    db.session.expire_all()
    assert db.session.get_one(PushSubscription, subscription_id).refusals == 1


def test_too_large_is_final_but_no_reason_to_forget(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int
) -> None:
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "status", status=413)
    row = add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.FAILED
    assert db.session.get(PushSubscription, subscription_id) is not None


@pytest.mark.parametrize(("kind", "options"), [("status", {"status": 429, "retry_after": 120}),
    ("status", {"status": 503}), ("status", {"status": 408}), ("drop", {})])  # fmt: skip
def test_passing_trouble_is_retried_and_never_forgets(
    client: Client, sim: Server, browser: dict[str, Any], user_id: int, kind: str, options: dict[str, Any]
) -> None:
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", kind, **options)
    row = add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
    before = clock.now()
    jobs.drain("urgent")
    row = reread(row.dedupe_key)
    assert row.state == State.PENDING
    if "retry_after" in options:
        assert row.next_try_at - before >= timedelta(seconds=options["retry_after"])
    age(200, of=row)
    jobs.drain("urgent")
    assert shown(sim, browser) == [PAYLOAD]


def test_a_redirect_is_not_followed(client: Client, sim: Server, browser: dict[str, Any], user_id: int) -> None:
    subscription_id = subscribe(client, browser, user_id)
    sim.fault("push", "redirect", location=f"{sim.url}/push/elsewhere")
    row = add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
    jobs.drain("urgent")
    assert reread(row.dedupe_key).state == State.FAILED
    assert len(sim.push.calls) == 1


def test_a_name_that_leads_inside_is_not_called(client: Client, sim: Server, user_id: int, keys: str) -> None:
    browser = sim.push.subscribe(keys)
    subscription_id = subscribe(client, browser, user_id)
    port = browser["endpoint"].split("//")[1].split("/")[0].partition(":")[2]
    db.session.execute(
        sa.update(PushSubscription).values(endpoint=f"http://10.255.255.1:{port}/push/a")
    )  # as after a rebinding
    db.session.commit()
    row = add(channel=Channel.PUSH, target=str(subscription_id), payload=PAYLOAD, kind="push")
    jobs.drain("urgent")
    row = reread(row.dedupe_key)
    assert (row.state, row.last_error) == (State.FAILED, "push: refused")


def test_one_dead_browser_does_not_hold_up_the_others(client: Client, sim: Server, keys: str, user_id: int) -> None:
    browsers = [sim.push.subscribe(keys) for _ in range(3)]
    for browser in browsers:
        subscribe(client, browser, user_id)
    sim.push.expire(browsers[0]["endpoint"])
    client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    assert [len(shown(sim, browser)) for browser in browsers] == [0, 1, 1]
