"""Helpers for sent medicine reminders and for the recorded answers."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery, DeliveryState
from app.pengingat.ledger import tokens
from app.pengingat.models import Occurrence
from tests.pengingat.answering import dose


def medicine(client, name, jam="00:00", query=""):
    """Create a medicine with one dose a day, at this time in UTC. Return its id."""
    details = {"nama_obat": name, "frekuensi": 1, "aturan": "setelah makan", "jadwal": [dose(jam)]}
    return client.post(f"/pengingat/obat{query}", {"judul": name, "details": details}).ok(201)["id"]


def mark_sent(row, token, ref=None):
    """Let a message to the owner say this occurrence at its due time. Occurrences with one token are one message."""
    message = db.session.scalars(sa.select(Delivery).filter_by(claim_token=token)).one_or_none()
    if message is None:
        kind = {"queue": "urgent", "channel": "messaging", "kind": "reminder", "payload": {"bell": "first"}}
        times = dict.fromkeys(("due_at", "next_try_at", "settled_at"), row.due_at)
        ids = {"dedupe_key": f"test:{token}", "user_id": row.user_id, "claim_token": token, "provider_ref": ref}
        expires_at = row.due_at + timedelta(hours=1)
        message = Delivery(state=DeliveryState.SENT, expires_at=expires_at, **kind, **times, **ids)
        db.session.add(message)
    message.said = [*(message.said or ()), row.id]
    db.session.flush()


def link_of(occurrence_id):
    """Give the message about this occurrence a link. Return the token."""
    made = tokens.token_of(occurrence_id, "test")
    which = sa.update(Delivery).where(Delivery.said == [occurrence_id])
    db.session.execute(which.values(link_hash=tokens.hash_of(made)))
    db.session.commit()
    return made


def read(occurrence_id):
    db.session.expire_all()
    return db.session.get_one(Occurrence, occurrence_id)


def state(occurrence_id):
    return read(occurrence_id).state
