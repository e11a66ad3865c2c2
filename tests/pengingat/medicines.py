"""Helper for medicines of one person that are due now."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications.models import deliveries
from app.pengingat import service
from app.pengingat.ledger import tokens
from app.pengingat.models import Occurrence


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
