"""Pushes from `/push/send` and from reminders: what a browser gets and shows."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.models import About, Channel, Delivery
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add
from tests.push.pushes import PAYLOAD, remind, shown, subscribe


@pytest.fixture
def client(committed, keys):
    return Client(committed)


def test_a_push_reaches_every_browser_of_the_person(client, sim, keys, user_id):
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


@pytest.mark.parametrize("has_token", [True, False])
def test_title_and_body_of_a_push_arrive_as_they_were_sent(client, siti, sim, browser, has_token):
    subscribe(siti, browser, siti.id)
    payload = {
        "title": "Menang di judi.com",
        "body": "siti@rumah.id\nhttps://judi.com  dr.Ani",
        "url": "/forum/threads/7",
    }
    sender = siti if has_token else client
    assert sender.post("/push/send", {"user_id": siti.id, "payload": payload}).status_code == 200
    jobs.drain("urgent")
    assert shown(sim, browser) == [payload]


def test_a_reminder_push_has_high_urgency_a_short_ttl_and_its_own_topic(client, sim, browser, user_id):
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


def test_a_machine_clock_that_is_ahead_does_not_shorten_the_ttl_of_a_push(client, sim, browser, user_id, monkeypatch):
    subscribe(client, browser, user_id, proven=True)
    remind(user_id)
    ahead = local_time.now() + timedelta(days=2)
    monkeypatch.setattr(local_time, "now", lambda: ahead)
    client.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    jobs.drain("urgent")
    lives = {message.urgency: message.ttl for message in sim.push.messages}
    assert lives["normal"] == 86400
    assert 3500 < lives["high"] <= 3600
    expires_in = db.session.scalar(sa.text("SELECT expires_at - due_at FROM deliveries WHERE kind = 'push'"))
    assert timedelta(hours=23) < expires_in <= timedelta(days=1)


@pytest.mark.parametrize("kind", ["reminder", "stock"])
def test_an_unverified_browser_shows_only_a_neutral_reminder_text(client, sim, browser, user_id, kind):
    subscribe(client, browser, user_id)
    remind(user_id, kind)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert shown(sim, browser) == [{"title": "Pengingat", "body": "Anda punya pengingat"}]


@pytest.mark.parametrize("kind", ["security_notice", "moderation", "broadcast"])
def test_an_unverified_browser_gets_no_other_kinds_of_pushes(client, sim, browser, user_id, kind):
    """An unverified browser gets no security notices, moderation cases or broadcasts.

    The subscription of such a browser names the person, but was made without the person's token.
    """
    subscribe(client, browser, user_id)
    remind(user_id, kind)
    for _ in range(2):
        jobs.drain("urgent")
    assert shown(sim, browser) == []


def test_a_waiting_push_is_not_shown_to_the_next_user_of_the_browser(client, sim, browser, user_id):
    """A push for a person waits. Then another person logs in at the same browser, which must not get the push."""
    target = str(subscribe(client, browser, user_id))
    add(kind="reminder", channel=Channel.PUSH, user_id=user_id, target=target, words=PAYLOAD)
    with unit_of_work():
        other = client.as_(make_user())
    assert other.post("/push/subscribe", browser).json["is_verified"] is True
    jobs.drain("urgent")
    assert shown(sim, browser) == []
    assert db.session.scalars(sa.select(Delivery.last_error).where(Delivery.channel == Channel.PUSH)).all() == [
        "unsubscribed"
    ]


def test_a_browser_that_subscribes_after_the_planning_gets_the_reminder(client, sim, browser, user_id):
    remind(user_id)
    subscribe(client, browser, user_id, proven=True)
    jobs.drain("urgent")
    jobs.drain("urgent")
    assert len(shown(sim, browser)) == 1


def test_cancelling_a_reminder_cancels_its_pushes(client, sim, browser, user_id):
    from app.notifications import outbox

    subscribe(client, browser, user_id)
    sim.fault("push", "status", status=503)
    remind(user_id, about=About("reminder", 1))
    jobs.drain("urgent")
    jobs.drain("urgent")
    with unit_of_work():
        outbox.cancel(outbox.is_about(About("reminder", 1)))
    pushes = sa.select(Delivery.state).where(Delivery.channel == Channel.PUSH)
    assert db.session.scalars(pushes).all() == ["cancelled"]
    assert not sim.push.messages
