"""Background jobs of reminders.

The jobs plan occurrences 60 hours ahead, mark missed occurrences and delete old ones. An occurrence is one due time
of a reminder.
"""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, repeat_in_batches, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once_now
from app.identity import erasure
from app.identity.models import User
from app.pengingat.ledger import missed, rows
from app.pengingat.ledger.upcoming import HORIZON, Extension, plan
from app.pengingat.models import Occurrence, Pengingat

#: A reminder's occurrences are planned up to its `planned_until`. Further occurrences are planned when less than this
#: time remains until `planned_until`.
REFILL_BELOW = HORIZON * 5 / 6
#: Reminders per transaction.
PAGE = 200
#: Seconds after which the job enqueues itself again, so that other jobs can run.
SLICE_S = 2.0
#: In the week between a person's request for erasure and the erasure, no occurrences are planned. Instead, a
#: job sets `planned_until` of the person's reminders to now. The job changes only values that are more than this time
#: in the past. So each reminder is updated at most six times an hour.
PASS_OVER = timedelta(minutes=10)
#: Number of old occurrences to delete in one transaction.
DELETE_BATCH = 5000


def top_up() -> None:
    """Plan the occurrences of the next 60 hours and put their messages into the outbox.

    Parallel runs create no duplicates.
    """
    skip_erasure_requests()
    stop = monotonic() + SLICE_S
    while top_up_page():
        if monotonic() >= stop:
            enqueue_once_now(top_up, queue=BULK)
            return


def top_up_page() -> int:
    """Plan one page of reminders in one transaction. Return the number of reminders."""
    now = db_time.now()
    with unit_of_work():
        # After a long outage, record the occurrences of the last 60 hours, which then become missed. Skip older ones.
        earliest = now - HORIZON
        extensions = [
            Extension(row, max(row.planned_until, earliest))
            for row in _page(Pengingat.planned_until < now + REFILL_BELOW, Pengingat.planned_until)
        ]
        plan(extensions, now)
    return len(extensions)


def skip_erasure_requests() -> None:
    """Set `planned_until` to now for the reminders of people who requested erasure.

    No occurrences are planned for these people. If a person cancels the erasure, planning continues from
    `planned_until`. So occurrences that were due before the person cancelled are not recorded as missed.
    """
    now = db_time.now()
    theirs = (
        sa.select(Pengingat.id)
        .join(User, User.id == Pengingat.user_id)
        .where(~erasure.IS_PRESENT, Pengingat.planned_until < now - PASS_OVER)
        .with_for_update(of=Pengingat, skip_locked=True)  # skip rows that the deletion of a person has locked
    )
    passed = sa.update(Pengingat).where(Pengingat.id.in_(theirs.scalar_subquery()))
    with unit_of_work():
        db.session.execute(
            passed.values(planned_until=now, updated_at=Pengingat.updated_at).execution_options(
                synchronize_session=False
            )
        )


def _page(which: sa.ColumnElement[bool], order: sa.ColumnExpressionArgument[object]) -> list[Pengingat]:
    """Lock and return one page of reminders. Skip rows that another transaction has locked.

    Also skip the reminders of a person who is being deleted, because waiting for the deletion could cause a deadlock.
    The deletion may itself wait for the rows that this function has locked.
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
    """Mark occurrences as missed if they got no answer within an hour. The scheduler calls this every second.

    The occurrences and their alerts are saved together. Otherwise a worker that dies here would lose the alerts.
    """
    now = db_time.now()
    if missed.is_any_overdue(now):
        with unit_of_work():
            missed.miss_overdue(now)


def delete_old() -> None:
    """Delete occurrences older than 400 days, in small transactions."""
    is_old = Occurrence.due_at < db_time.now() - rows.KEPT
    some = sa.select(Occurrence.id).where(is_old).limit(DELETE_BATCH).with_for_update(skip_locked=True)
    repeat_in_batches(sa.delete(Occurrence).where(Occurrence.id.in_(some.scalar_subquery())), DELETE_BATCH)
