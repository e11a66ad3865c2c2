"""Changes to a person's reminders when the person withdraws the consent to health data, or gives it again."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.identity import users
from app.notifications.models import Delivery
from app.pengingat.ledger import bells, rows, stock, upcoming
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.timetable.schedule import NEVER

#: Kinds of deliveries about reminders.
KINDS = (bells.KIND, stock.KIND)


def stop(user_id: int) -> None:
    """Stop all messages about a person's reminders, and keep the reminders. The caller has locked the person's row."""
    _locked(user_id)
    rows.void(Occurrence.user_id == user_id, Occurrence.due_at > db_time.now())
    stopped = sa.update(Pengingat).where(Pengingat.user_id == user_id).values(planned_until=NEVER)
    db.session.execute(stopped.execution_options(synchronize_session="evaluate"))


def resume(user_id: int) -> None:
    """Plan the future occurrences of the person's reminders again, and check the stock of medicines again."""
    users.lock_own(user_id)
    now = db_time.now()
    held = _locked(user_id)
    for pengingat in held:
        pengingat.stock_told = False  # a notice that was due meanwhile was not sent
        stock.follow(pengingat, now)
    upcoming.plan([upcoming.Extension(pengingat, now) for pengingat in held], now)
    db.session.flush()


def delete_all(user_id: int) -> None:
    """Delete the person's reminders, their history and their deliveries. The caller has locked the person's row."""
    for table in (Pengingat, Occurrence):
        db.session.execute(sa.delete(table).where(table.user_id == user_id))
    db.session.execute(sa.delete(Delivery).where(Delivery.user_id == user_id, Delivery.kind.in_(KINDS)))


def _locked(user_id: int) -> list[Pengingat]:
    """Lock and return the person's reminders, so that no background job plans them at the same time."""
    query = sa.select(Pengingat).where(Pengingat.user_id == user_id).order_by(Pengingat.id)
    lock = query.with_for_update(key_share=True)
    return list(db.session.scalars(lock.execution_options(populate_existing=True)))
