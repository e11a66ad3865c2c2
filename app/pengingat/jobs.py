"""What reminders do by themselves: they fill ledger and outbox 36 hours ahead, close what nobody answered, and sum up
what is old."""

from __future__ import annotations

from time import monotonic

import sqlalchemy as sa

from app.core.database import clock as database_clock
from app.core.database.session import db, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.identity.models import PHONE_IS_PROVEN, User
from app.pengingat import ledger
from app.pengingat.models import Pengingat
from app.pengingat.occurrences import HORIZON, Extension, plan
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
    """Plan one page of reminders in one transaction; returns how many there were.

    The reminders of somebody who is being deleted are left alone: the deletion waits for what is locked here, so this
    must not wait for the deletion.
    """
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
        people = sa.select(User.id).where(User.id.in_({row.user_id for row, *_ in rows}))
        staying = set(db.session.scalars(people.with_for_update(read=True, key_share=True, skip_locked=True)))
        # After a long outage what is too late is still recorded as missed, but not for weeks back.
        earliest = now - HORIZON
        extensions = [
            Extension(row, Recipient(name, phone_is_proven=phone_is_proven), max(row.planned_until, earliest))
            for row, name, phone_is_proven in rows
            if row.user_id in staying
        ]
        plan(extensions, now)
    return len(extensions)


def miss_overdue() -> None:
    """The clock's tick: what nobody answered within an hour is missed."""
    ledger.miss_overdue(database_clock.now())


def compact() -> int:
    """Turn occurrences older than 400 days into daily sums, in small transactions; returns how many. Killed at any
    line, each is still counted once."""
    total = 0
    while True:
        with unit_of_work():
            count = ledger.compact_batch(database_clock.now())
        total += count
        if count < ledger.COMPACT_BATCH:
            return total
