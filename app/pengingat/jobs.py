"""Background jobs of reminders.

They plan occurrences 36 hours ahead, send stock notices, mark missed occurrences, alert caregivers and compact old
rows.
"""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.jobs import clock_jump
from app.core.jobs.queue import BULK, enqueue_once_now
from app.identity import erasure
from app.identity.models import User
from app.notifications import outbox
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import compaction, missed, stock
from app.pengingat.ledger.upcoming import HORIZON, Extension, plan
from app.pengingat.models import Pengingat

#: A reminder is planned again when it is planned for less than this time ahead.
REFILL_BELOW = HORIZON * 2 / 3
#: Reminders per transaction.
PAGE = 200
#: Seconds after which the job enqueues itself again, so that other jobs can run.
SLICE_S = 2.0
#: Longest delay of `planned_until` for people who requested erasure. It keeps the number of writes low: a few per
#: hour and reminder, for a week.
PASS_OVER = timedelta(minutes=10)


def top_up() -> None:
    """Put the occurrences of the coming hours into the outbox. Parallel runs create no duplicates."""
    pass_over_leaving()
    stop = monotonic() + SLICE_S
    while top_up_page():
        if monotonic() >= stop:
            enqueue_once_now(top_up, queue=BULK)
            return


def top_up_page() -> int:
    """Plan one page of reminders in one transaction. Return the number of reminders."""
    now = db_time.now()
    with unit_of_work():
        # After a long outage, occurrences of the last 36 hours are still recorded, as missed. Older ones are not.
        earliest = now - HORIZON
        extensions = [
            Extension(row, max(row.planned_until, earliest))
            for row in _page(Pengingat.planned_until < now + REFILL_BELOW, Pengingat.planned_until)
        ]
        plan(extensions, now)
    return len(extensions)


def pass_over_leaving() -> None:
    """Move `planned_until` to now for people who requested erasure, so that nothing falls due for them.

    If they cancel the erasure, planning continues from that moment, or from up to ten minutes before. So no occurrence
    of the time between is recorded as missed.
    """
    now = db_time.now()
    theirs = (
        sa.select(Pengingat.id)
        .join(User, User.id == Pengingat.user_id)
        .where(~erasure.IS_PRESENT, Pengingat.planned_until < now - PASS_OVER)
        .with_for_update(of=Pengingat, skip_locked=True)  # the deletion may have locked them
    )
    passed = sa.update(Pengingat).where(Pengingat.id.in_(theirs.scalar_subquery()))
    with unit_of_work():
        db.session.execute(
            passed.values(planned_until=now, updated_at=Pengingat.updated_at).execution_options(
                synchronize_session=False
            )
        )


def tell_of_stock() -> None:
    """Put stock notices into the outbox, at 09.00 of each reminder's zone. Parallel runs create no duplicates."""
    while tell_page():
        pass


def tell_page() -> int:
    """Check the stock of one page of reminders in one transaction. Return the number of reminders."""
    now = db_time.now()
    with unit_of_work():
        rows = _page(Pengingat.stock_check_at <= now, Pengingat.stock_check_at)
        outbox.add_all([draft for row in rows for draft in stock.create_notices(row, now)])
    return len(rows)


def _page(which: sa.ColumnElement[bool], order: sa.ColumnExpressionArgument[object]) -> list[Pengingat]:
    """Lock and return one page of reminders. Skip rows that are locked by others.

    Also skip the reminders of a person who is being deleted. The deletion may wait for rows that are locked here, so
    waiting for it would be a deadlock.
    """
    page = (
        sa.select(Pengingat)
        .join(User, User.id == Pengingat.user_id)
        .where(which, erasure.IS_PRESENT)
        .order_by(order)
        .limit(PAGE)
        .with_for_update(of=Pengingat, key_share=True, skip_locked=True)
    )
    rows = db.session.scalars(page).all()
    people = sa.select(User.id).where(User.id.in_({row.user_id for row in rows}))
    staying = set(db.session.scalars(people.with_for_update(read=True, key_share=True, skip_locked=True)))
    return [row for row in rows if row.user_id in staying]


def miss_overdue() -> None:
    """Mark occurrences as missed that had no answer within an hour. The scheduler calls this on every tick."""
    missed.miss_overdue(clock_jump.now())


def tell_caregivers() -> None:
    """Put due alerts for caregivers into the outbox. The scheduler calls this on every tick."""
    now = clock_jump.now()
    if not alerts.is_any_due(now):
        return
    for link_id in alerts.links_due(now):
        with unit_of_work():
            alerts.notify_caregiver(link_id, now)


def compact() -> int:
    """Replace occurrences older than 400 days with daily sums, in small transactions. Return their number.

    Each occurrence is counted exactly once, even if the job is killed.
    """
    total = 0
    while True:
        with unit_of_work():
            count = compaction.compact_batch(db_time.now())
        total += count
        if count < compaction.COMPACT_BATCH:
            return total
