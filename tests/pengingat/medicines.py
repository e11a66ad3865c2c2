"""Helper for medicines of one person that are due now."""

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications.models import Delivery
from app.pengingat import service
from app.pengingat.ledger import bells
from app.pengingat.models import Occurrence, Pengingat


def medicine(user_id, name, *, due_in_s=-5, title="", **details):
    """Create a daily medicine and move its next dose to `due_in_s` seconds from now. Return its id."""
    soon = local_time.now() + timedelta(hours=1)
    dose = {"jam": f"{soon:%H:%M}", "jumlah": 1, "satuan": "tablet"}
    data = {"nama_obat": name, "frekuensi": 1, "aturan": "setelah makan", "jadwal": [dose], **details}
    with unit_of_work():
        new = {"tipe": "obat", "judul": title or name, "timezone": "Asia/Jakarta", "details": data}
        reminder_id = service.create(user_id, new).id
    move(reminder_id, local_time.now() + timedelta(seconds=due_in_s))
    return reminder_id


def move(reminder_id, due_at):
    """Change the due time of the first dose, and its bells."""
    with unit_of_work():
        pengingat = db.session.get_one(Pengingat, reminder_id)
        doses = sa.select(Occurrence).where(Occurrence.reminder_id == reminder_id).order_by(Occurrence.due_at)
        row = db.session.scalars(doses.limit(1)).one()
        gone = [bell.moment for bell in bells.of_row(pengingat, row)]
        db.session.execute(sa.delete(Delivery).where(Delivery.user_id == row.user_id, Delivery.due_at.in_(gone)))
        row.due_at = due_at.replace(microsecond=0)
        db.session.flush()
        bells.ring(bells.of_row(pengingat, row), row.due_at)
