"""Helpers that create deliveries."""

from __future__ import annotations

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.models import Channel
from tests.helpers.client import Client


def send(person: Client, text: str = "Rahasia") -> None:
    db.session.commit()
    with unit_of_work():
        outbox.send(
            outbox.NewDelivery(
                kind="reminder",
                channel=Channel.MESSAGING,
                dedupe_key=text,
                words={"text": text},
                user_id=person.id,
            )
        )
