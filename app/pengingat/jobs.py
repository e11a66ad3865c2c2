"""What reminders do by themselves: they fill ledger and outbox 36 hours ahead, tell of medicines that run out, close
what nobody answered, and sum up what is old."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import sqlalchemy as sa

from app.core.database import clock as database_clock
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

#: Reminders that are planned for less than this ahead are planned further.
REFILL_BELOW = HORIZON * 2 / 3
#: Reminders of one transaction.
PAGE = 200
#: Seconds after which the job enqueues itself again and makes room for other jobs.
SLICE_S = 2.0
#: How far the reminders of who is leaving may lie behind: each is written a few times an hour, for a week.
PASS_OVER = timedelta(minutes=10)


def top_up() -> None:
    """Put the occurrences of the coming hours into the outbox. However many do this at once, each is one row."""
    pass_over_leaving()
    stop = monotonic() + SLICE_S
    while top_up_page():
        if monotonic() >= stop:
            enqueue_once_now(top_up, queue=BULK)
            return


def top_up_page() -> int:
    """Plan one page of reminders in one transaction; returns how many there were."""
    now = database_clock.now()
    with unit_of_work():
        # After a long outage what is too late is still recorded as missed, but not for weeks back.
        earliest = now - HORIZON
        extensions = [
            Extension(row, max(row.planned_until, earliest))
            for row in _page(Pengingat.planned_until < now + REFILL_BELOW, Pengingat.planned_until)
        ]
        plan(extensions, now)
    return len(extensions)


def pass_over_leaving() -> None:
    """Nothing falls due for who is leaving: should they come back, they are asked from then on, or from some minutes
    before, and have missed nothing meanwhile."""
    now = database_clock.now()
    theirs = (
        sa.select(Pengingat.id)
        .join(User, User.id == Pengingat.user_id)
        .where(~erasure.IS_PRESENT, Pengingat.planned_until < now - PASS_OVER)
        .with_for_update(of=Pengingat, skip_locked=True)  # the deletion may be at it
    )
    passed = sa.update(Pengingat).where(Pengingat.id.in_(theirs.scalar_subquery()))
    with unit_of_work():
        db.session.execute(
            passed.values(planned_until=now, updated_at=Pengingat.updated_at).execution_options(
                synchronize_session=False
            )
        )


def tell_of_stock() -> None:
    """At 09.00 of each reminder's zone, tell of a medicine that runs out; each once, however many clocks."""
    while tell_page():
        pass


def tell_page() -> int:
    """Look at the stock of one page of reminders in one transaction; returns how many there were."""
    now = database_clock.now()
    with unit_of_work():
        rows = _page(Pengingat.stock_check_at <= now, Pengingat.stock_check_at)
        outbox.add_all([draft for row in rows for draft in stock.look(row, now)])
    return len(rows)


def _page(which: sa.ColumnElement[bool], order: sa.ColumnExpressionArgument[object]) -> list[Pengingat]:
    """A page of reminders that nobody else holds, locked.

    The reminders of somebody who is being deleted are left alone: the deletion waits for what is locked here, so this
    must not wait for the deletion.
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
    """The clock's tick: what nobody answered within an hour is missed."""
    missed.miss_overdue(clock_jump.now())


def tell_caregivers() -> None:
    """The clock's tick: caregivers hear of what was missed, those who may. Nothing of it is done twice."""
    now = clock_jump.now()
    if not alerts.is_any_due(now):
        return
    for link_id in alerts.links_due(now):
        with unit_of_work():
            alerts.tell(link_id, now)


def compact() -> int:
    """Turn occurrences older than 400 days into daily sums, in small transactions; returns how many. Killed at any
    line, each is still counted once."""
    total = 0
    while True:
        with unit_of_work():
            count = compaction.compact_batch(database_clock.now())
        total += count
        if count < compaction.COMPACT_BATCH:
            return total
