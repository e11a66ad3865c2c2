"""Helpers that create deliveries."""

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.models import Channel


def send(person, text="Rahasia"):
    db.session.commit()
    with unit_of_work():
        outbox.send(
            outbox.NewDelivery(
                kind="reminder", channel=Channel.MESSAGING, dedupe_key=text, words={"text": text}, user_id=person.id
            )
        )
