"""Edits of reminders, for several tests."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of
from tests.pengingat.answering import Reminder


def dose(jam: str, jumlah: float = 1) -> dict[str, Any]:
    return {"jam": jam, "jumlah": jumlah, "satuan": "tablet"}


def with_doses(obat: dict[str, Any], *doses: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**obat["details"], "frekuensi": len(doses), "jadwal": list(doses), **fields}


def first_text() -> str:
    """Return the text of the message that is due first, or an empty string if it has none any more."""
    first = sa.select(Delivery).filter_by(channel="messaging").order_by(Delivery.due_at).limit(1)
    return str(words_of(db.session.scalars(first).one()).get("text", ""))


def put(client: Client, due: Reminder, body: dict[str, Any], query: str = "") -> None:
    answer = client.put(f"/pengingat/{due.id}{query}", body)
    assert answer.status_code == 200, answer.json
