"""Helpers that subscribe browsers, send pushes of reminders, and return what browsers show."""

import json

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications import jobs
from app.notifications.models import Channel
from app.push.models import PushSubscription
from tests.notifications.deliveries import add, drained

PAYLOAD = {"title": "Halo", "body": "Ada kabar ☺", "url": "/forum/5"}
#: The push of a reminder on a verified browser, and on an unverified one.
TEXT = {"title": "Pengingat: obat", "body": "Waktunya minum Metformin."}
NEUTRAL = {"title": "Pengingat", "body": "Anda punya pengingat"}


def subscribe(client, browser, user_id, *, proven=False):
    subscription_id = client.post("/push/subscribe", {**browser, "user_id": user_id}).json["id"]
    if proven:
        db.session.execute(sa.update(PushSubscription).filter_by(id=subscription_id).values(is_verified=True))
        db.session.commit()
    return subscription_id


def remind(user_id, kind="reminder"):
    """Add a push about a reminder of this person, and add a push for each browser."""
    add(kind=kind, channel=Channel.PUSH_FAN_OUT, user_id=user_id, target=None, words=TEXT)
    jobs.drain("urgent")


def push(user_id, kind="reminder"):
    """Send a push about a reminder to the person's browsers."""
    remind(user_id, kind)
    jobs.drain("urgent")


def push_to(subscription_id):
    """Send a push to one browser, and return its delivery."""
    return drained(add(channel=Channel.PUSH, target=str(subscription_id), words=PAYLOAD, kind="push"))


def shown(sim, browser):
    return [json.loads(message.text or "null") for message in sim.push.shown(browser["endpoint"])]
