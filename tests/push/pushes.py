"""Helpers that subscribe browsers, add pushes of reminders, and return what browsers show."""

import json

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Channel
from app.push.models import PushSubscription
from tests.notifications.deliveries import add

PAYLOAD = {"title": "Halo", "body": "Ada kabar ☺", "url": "/forum/5"}


def subscribe(client, browser, user_id, *, proven=False):
    subscription_id = client.post("/push/subscribe", {**browser, "user_id": user_id}).json["id"]
    if proven:
        db.session.execute(sa.update(PushSubscription).filter_by(id=subscription_id).values(is_verified=True))
        db.session.commit()
    return subscription_id


def remind(user_id, kind="reminder", **fields):
    """Add a push about a reminder of this person. Return the push's dedupe key."""
    row = add(
        kind=kind,
        channel=Channel.PUSH_FAN_OUT,
        user_id=user_id,
        target=None,
        words={"title": "Pengingat: obat", "body": "Waktunya minum Metformin."},
        **fields,
    )
    return row.dedupe_key


def shown(sim, browser):
    return [json.loads(message.text or "null") for message in sim.push.shown(browser["endpoint"])]
