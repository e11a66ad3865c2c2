"""Helpers that subscribe browsers, add pushes of reminders, and return what browsers show."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Channel
from app.push.models import PushSubscription
from dev.simulators import Server
from tests.helpers.client import Client
from tests.notifications.deliveries import add

PAYLOAD = {"title": "Halo", "body": "Ada kabar ☺", "url": "/forum/5"}


def subscribe(client: Client, browser: dict[str, Any], user_id: int, *, proven: bool = False) -> int:
    subscription_id: int = client.post("/push/subscribe", {**browser, "user_id": user_id}).json["id"]
    if proven:
        db.session.execute(sa.update(PushSubscription).filter_by(id=subscription_id).values(is_verified=True))
        db.session.commit()
    return subscription_id


def remind(user_id: int, kind: str = "reminder", **fields: Any) -> str:
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


def shown(sim: Server, browser: dict[str, Any]) -> list[Any]:
    return [json.loads(message.text or "null") for message in sim.push.shown(browser["endpoint"])]
