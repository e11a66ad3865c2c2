"""The clock's part in reminders: it keeps the outbox filled."""

from __future__ import annotations

from time import monotonic

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.identity.models import User
from app.notifications import outbox
from app.pengingat.models import Pengingat
from app.pengingat.occurrences import HORIZON, extend

#: Reminders with less than this ahead of them are due for more.
REFILL_BELOW = HORIZON * 2 / 3
PAGE = 200
#: Then the job makes room for others and rings itself again.
TURN_S = 2.0


def top_up() -> None:
    """Plan what comes into sight. However many do this at once, each occurrence is one row."""
    stop = monotonic() + TURN_S
    while top_up_page():
        if monotonic() >= stop:
            enqueue_once_now(top_up, queue=BULK)
            return


def top_up_page() -> int:
    """Plan one page of reminders in one transaction; returns how many there were."""
    now = database_clock.now()
    page = (
        sa.select(Pengingat, User.nama_ktp)
        .join(User, User.id == Pengingat.user_id)
        .where(Pengingat.planned_until < now + REFILL_BELOW)
        .order_by(Pengingat.planned_until)
        .limit(PAGE)
        .with_for_update(of=Pengingat, skip_locked=True)
    )
    with unit_of_work():
        rows = db.session.execute(page).all()
        drafts = [
            draft
            for pengingat, name in rows
            # After a long outage what is hopelessly late is recorded as missed, but not for weeks back.
            for draft in extend(pengingat, name, after=max(pengingat.planned_until, now - HORIZON), now=now)
        ]
        outbox.add_all(drafts)
    return len(rows)
