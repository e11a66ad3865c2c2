"""Edits of reminders, for several tests."""

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.notifications.deliveries import words_of


def dose(jam, jumlah=1):
    return {"jam": jam, "jumlah": jumlah, "satuan": "tablet"}


def with_doses(obat, *doses, **fields):
    return {**obat["details"], "frekuensi": len(doses), "jadwal": list(doses), **fields}


def first_text():
    """Return the text of the message that is due first, or an empty string if it has none any more."""
    first = sa.select(Delivery).filter_by(channel="messaging").order_by(Delivery.due_at).limit(1)
    return str(words_of(db.session.scalars(first).one()).get("text", ""))


def put(client, due, body, query=""):
    answer = client.put(f"/pengingat/{due.id}{query}", body)
    assert answer.status_code == 200, answer.json
