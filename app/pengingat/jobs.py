"""Jobs of reminders: the periodic one that keeps the outbox filled 36 hours ahead."""

from __future__ import annotations

from time import monotonic

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications import outbox
from app.pengingat.models import Pengingat
from app.pengingat.occurrences import HORIZON, extend
from app.pengingat.texts import Recipient

#: Reminders that are planned for less than this ahead are planned further.
REFILL_BELOW = HORIZON * 2 / 3
#: Reminders of one transaction.
PAGE = 200
#: Seconds after which the job enqueues itself again and makes room for other jobs.
SLICE_S = 2.0


def top_up() -> None:
    """Put the occurrences of the coming hours into the outbox. However many do this at once, each is one row."""
    stop = monotonic() + SLICE_S
    while top_up_page():
        if monotonic() >= stop:
            enqueue_once_now(top_up, queue=BULK)
            return


def top_up_page() -> int:
    """Plan one page of reminders in one transaction; returns how many there were."""
    now = database_clock.now()
    page = (
        sa.select(Pengingat, User.nama_ktp, PHONE_IS_PROVEN)
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
            for pengingat, name, phone_is_proven in rows
            # After a long outage what is too late is still recorded as missed, but not for weeks back.
            for draft in extend(
                pengingat,
                Recipient(name, phone_is_proven=phone_is_proven),
                after=max(pengingat.planned_until, now - HORIZON),
                now=now,
            )
        ]
        outbox.add_all(drafts)
    return len(rows)
