"""Pushes from `/push/send` and from reminders: what a browser gets and shows."""

import json
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications import jobs, outbox
from app.notifications.models import About, Channel, Delivery
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add
from tests.push.pushes import NEUTRAL, PAYLOAD, TEXT, push, remind, shown, subscribe


def test_a_push_reaches_every_browser_of_the_person(caller, sim, browser, other_browser, user_id):
    for each in (browser, other_browser):
        subscribe(caller, each, user_id)
    body = caller.post("/push/send", {"user_id": user_id, "payload": PAYLOAD}).ok()
    assert body == {"sent": 0, "failed": 0, "removed": 0, "queued": 2}
    jobs.drain("urgent")
    assert shown(sim, browser) == shown(sim, other_browser) == [PAYLOAD]
    message = sim.push.messages[0]
    assert (message.error, message.ttl, message.urgency) == (None, 86400, "normal")


def test_title_and_body_of_a_push_arrive_as_they_were_sent(caller, sim, browser):
    with unit_of_work():
        siti = caller.as_(make_user())
    subscribe(siti, browser, siti.id)
    payload = {"title": "Menang di judi.com", "body": "siti@rumah.id\nhttps://judi.com  dr.Ani", "url": "/forum"}
    for sender in (siti, caller):
        assert sender.post("/push/send", {"user_id": siti.id, "payload": payload}).status_code == 200
    jobs.drain("urgent")
    assert shown(sim, browser) == [payload, payload]


def test_a_reminder_push_has_high_urgency_a_short_ttl_and_its_own_topic(caller, sim, browser, user_id):
    subscribe(caller, browser, user_id, proven=True)
    push(user_id)
    push(user_id)
    first, second = sim.push.messages
    assert json.loads(first.text) == TEXT
    assert 3500 < first.ttl <= 3600
    assert first.urgency == "high"
    assert len(first.topic) == 32
    assert second.topic != first.topic


def test_a_machine_clock_that_is_ahead_does_not_shorten_the_ttl_of_a_push(caller, sim, browser, user_id, monkeypatch):
    subscribe(caller, browser, user_id, proven=True)
    remind(user_id)
    ahead = local_time.now() + timedelta(days=2)
    monkeypatch.setattr(local_time, "now", lambda: ahead)
    caller.post("/push/send", {"user_id": user_id, "payload": PAYLOAD})
    jobs.drain("urgent")
    lives = {message.urgency: message.ttl for message in sim.push.messages}
    assert lives["normal"] == 86400
    assert 3500 < lives["high"] <= 3600
    expires_in = db.session.scalar(sa.text("SELECT expires_at - due_at FROM deliveries WHERE kind = 'push'"))
    assert timedelta(hours=23) < expires_in <= timedelta(days=1)


def test_an_unverified_browser_shows_only_a_neutral_text_of_reminders(caller, sim, browser, user_id):
    """An unverified browser gets no security notices, moderation cases or broadcasts.

    The subscription of such a browser names the person, but was made without the person's token.
    """
    subscribe(caller, browser, user_id)
    for kind in ("reminder", "stock", "security_notice", "moderation", "broadcast"):
        push(user_id, kind)
        assert shown(sim, browser) == [NEUTRAL] * (1 if kind == "reminder" else 2), kind


def test_a_waiting_push_is_not_shown_to_the_next_user_of_the_browser(caller, sim, browser, user_id):
    """A push for a person waits. Then another person logs in at the same browser, which must not get the push."""
    target = str(subscribe(caller, browser, user_id))
    add(kind="reminder", channel=Channel.PUSH, user_id=user_id, target=target, words=PAYLOAD)
    with unit_of_work():
        other = caller.as_(make_user())
    assert other.post("/push/subscribe", browser).json["is_verified"] is True
    jobs.drain("urgent")
    assert shown(sim, browser) == []
    errors = sa.select(Delivery.last_error).where(Delivery.channel == Channel.PUSH)
    assert db.session.scalars(errors).all() == ["unsubscribed"]


def test_a_browser_that_subscribes_after_the_planning_gets_the_reminder(caller, sim, browser, user_id):
    add(kind="reminder", channel=Channel.PUSH_FAN_OUT, user_id=user_id, target=None, words=TEXT)
    subscribe(caller, browser, user_id, proven=True)
    for _ in range(2):
        jobs.drain("urgent")
    assert shown(sim, browser) == [TEXT]


def test_a_cancellation_by_subject_also_cancels_the_pushes_of_a_fan_out(caller, sim, browser, user_id):
    subscribe(caller, browser, user_id)
    subject = About("reminder", 1)
    add(kind="reminder", channel=Channel.PUSH_FAN_OUT, user_id=user_id, target=None, words=TEXT, about=subject)
    jobs.drain("urgent")
    with unit_of_work():
        outbox.cancel(outbox.is_about(subject))
    pushes = sa.select(Delivery.state).where(Delivery.channel == Channel.PUSH)
    assert db.session.scalars(pushes).all() == ["cancelled"]
    assert not sim.push.messages
