"""Helpers for medicines of one person that are due now, and for their messages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications.models import Channel, Delivery, deliveries
from app.pengingat import service
from app.pengingat.ledger import answers, tokens
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Occurrence
from dev.simulators import Server

ADDRESS = "https://sehat.example.org"


ALL = ("Metformin", "Amlodipin", "Simvastatin")


def medicine(user_id: int, name: str, *, due_in_s: float = -5, title: str = "", **details: Any) -> int:
    """Create a daily medicine and move its next dose to `due_in_s` seconds from now. Return its id."""
    soon = local_time.now() + timedelta(hours=1)
    dose = {"jam": f"{soon:%H:%M}", "jumlah": 1, "satuan": "tablet"}
    data = {"nama_obat": name, "frekuensi": 1, "aturan": "setelah makan", "jadwal": [dose], **details}
    with unit_of_work():
        new: Any = {"tipe": "obat", "judul": title or name, "timezone": "Asia/Jakarta", "details": data}
        reminder_id = service.create(user_id, new).id
    move(reminder_id, local_time.now() + timedelta(seconds=due_in_s))
    return reminder_id


def move(reminder_id: int, due_at: datetime) -> None:
    """Change the due time of the first dose and of its messages."""
    first = sa.select(sa.func.min(Occurrence.due_at)).where(Occurrence.reminder_id == reminder_id).scalar_subquery()
    with unit_of_work():
        which = Occurrence.reminder_id == reminder_id, Occurrence.due_at == first
        row = db.session.scalars(sa.select(Occurrence).where(*which)).one()
        row.due_at = due_at
        row.link_hash = tokens.hash_of(tokens.link_token_of(tokens.push_token(row.user_id, due_at)))
        times = {"due_at": due_at, "next_try_at": due_at, "expires_at": due_at + timedelta(hours=1)}
        db.session.execute(sa.update(deliveries).where(deliveries.c.occurrence_id == row.id).values(times))


def end_lease() -> None:
    """Expire the leases of messages that a worker has claimed, and make all retries due now."""
    with unit_of_work():
        past = sa.func.now() - timedelta(seconds=1)
        is_tried = sa.and_(deliveries.c.claim_token.is_not(None), deliveries.c.state.in_(["pending", "claimed"]))
        db.session.execute(sa.update(deliveries).where(is_tried).values(next_try_at=past))


def messages(*reminder_ids: int) -> list[Delivery]:
    """Return the outbox rows of chat messages about the first doses, in order."""
    db.session.expire_all()
    rows = sa.select(Delivery).where(Delivery.about_id.in_(reminder_ids), Delivery.channel == Channel.MESSAGING)
    return list(
        db.session.scalars(rows.where(Delivery.due_at < local_time.now() + timedelta(minutes=2)).order_by("id"))
    )


def states(*reminder_ids: int) -> list[str]:
    return [row.state for row in messages(*reminder_ids)]


def answer(user_id: int, reminder_id: int, status: str = "done") -> None:
    with unit_of_work():
        answers.confirm(user_id, reminder_id, NewAnswer(status, 5))


def sent(sim: Server) -> list[str]:
    return [message.text for message in sim.messaging.sent]


def named(text: str) -> list[str]:
    return [name for name in ALL if name in text]
