"""Jobs that create and delete exports of personal data, and that erase people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database import db_time
from app.core.database.session import after_commit, db, own_connection, unit_of_work
from app.core.jobs.queue import BULK, enqueue_once, enqueue_once_now
from app.core.media import storage
from app.core.media.storage import Area
from app.identity import erasure
from app.identity.erasure import ErasureSubject
from app.identity.models import User
from app.personal_data import archive, erasers, tombstones
from app.personal_data.models import DataExport

CONTENT_TYPE = "application/zip"

#: Time for which a finished export is kept (`KEPT`), and time for which the row of a failed export is kept
#: (`GIVEN_UP`).
KEPT = timedelta(hours=24)
GIVEN_UP = timedelta(days=2)
#: Delay before an export is retried for the first time. Each further delay is twice as long, up to about two hours.
RETRY = timedelta(minutes=1)
MAX_DOUBLINGS = 7
#: Timeout of an export job in seconds.
EXPORT_LIMIT_S = 900
#: Minimum age at which a file without a row is deleted. The row of a younger file may not be committed yet.
ORPHAN_AGE = timedelta(hours=1)
BATCH = 100


def enqueue_export(export_id: int) -> None:
    """Enqueue the job that creates an export, after the open transaction commits."""
    enqueue_once(make_export, export_id, queue=BULK, limit_s=EXPORT_LIMIT_S)


def make_waiting_exports() -> None:
    """Enqueue the exports whose job was lost or failed. The scheduler runs this job every minute."""
    with unit_of_work():
        waiting = sa.select(DataExport.id).where(DataExport.ready_at.is_(None), DataExport.next_try_at <= db_time.now())
        ids = db.session.scalars(waiting.order_by(DataExport.next_try_at).limit(BATCH)).all()
    for export_id in ids:
        enqueue_once_now(make_export, export_id, queue=BULK, limit_s=EXPORT_LIMIT_S)


def make_export(export_id: int) -> None:
    """Create the file of an export. If the job is killed, the next run starts again and replaces the file.

    An advisory lock prevents two jobs from creating the same export at the same time. The lock ends when the process
    ends.
    """
    with own_connection() as connection, _locked(connection, f"data_export:{export_id}") as is_ours:
        export = _begin(export_id) if is_ours else None
        user = _owner(export) if export is not None else None
        if export is None or user is None:
            return
        with TemporaryDirectory(prefix="health-export-") as folder:
            path = Path(folder) / "export.zip"
            archive.write(path, user, connection)
            with path.open("rb") as file:
                storage.area(Area.EXPORTS).put(export.file, file, CONTENT_TYPE)
        if not _finish(export_id):  # the person was erased during the export
            storage.area(Area.EXPORTS).remove(export.file)


def delete_old_exports() -> None:
    """Delete expired exports and files without a row."""
    now = db_time.now()
    is_over = sa.or_(DataExport.ready_at <= now - KEPT, DataExport.created_at <= now - GIVEN_UP)
    with unit_of_work():
        gone = sa.delete(DataExport).where(is_over).returning(DataExport.file)
        for file in db.session.scalars(gone.execution_options(synchronize_session=False)):
            remove_file(file)
    with unit_of_work():
        known = set(db.session.scalars(sa.select(DataExport.file)))
    for name, stored_at in list(storage.area(Area.EXPORTS).names()):
        if name not in known and stored_at < now - ORPHAN_AGE:
            storage.area(Area.EXPORTS).remove(name)


def remove_file(file: str) -> None:
    """Delete the file of an export after the open transaction commits."""
    room = storage.area(Area.EXPORTS)
    after_commit(lambda: room.remove(file))


@contextmanager
def _locked(connection: sa.Connection, name: str) -> Iterator[bool]:
    key = sa.func.hashtextextended(name, 0)
    is_ours = bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(key))))
    try:
        yield is_ours
    finally:
        if is_ours:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))


def _begin(export_id: int) -> DataExport | None:
    """Count an attempt to create an export. Return the export, or None if it is ready or deleted."""
    doublings = sa.func.least(DataExport.attempts, MAX_DOUBLINGS)
    delay = sa.func.make_interval(0, 0, 0, 0, 0, 0, RETRY.total_seconds() * sa.func.power(2, doublings))
    with unit_of_work():
        return db.session.scalar(
            sa.update(DataExport)
            .where(DataExport.id == export_id, DataExport.ready_at.is_(None))
            .values(attempts=DataExport.attempts + 1, next_try_at=sa.func.statement_timestamp() + delay)
            .returning(DataExport)
            .execution_options(synchronize_session=False)
        )


def _owner(export: DataExport) -> User | None:
    with unit_of_work():
        return db.session.get(User, export.user_id)


def _finish(export_id: int) -> bool:
    with unit_of_work():
        finished = (
            sa.update(DataExport).where(DataExport.id == export_id).values(ready_at=sa.func.statement_timestamp())
        )
        return db.session.scalar(finished.returning(DataExport.id)) is not None


# --- erasure --------------------------------------------------------------------------------------------------------

#: Seconds after which an erasure job stops and enqueues itself again, so that other jobs can run. `ERASE_LIMIT_S` is
#: the job's timeout in seconds.
SLICE_S = 20.0
ERASE_LIMIT_S = 120


def erase_due() -> None:
    """Enqueue the erasure of people whose grace period is over, also if an earlier job was interrupted.

    The scheduler runs this job every minute.
    """
    due = sa.select(User.id).where(User.erasure_due_at <= sa.func.statement_timestamp()).order_by(User.erasure_due_at)
    with unit_of_work():
        ids = db.session.scalars(due.limit(BATCH)).all()
    for user_id in ids:
        _enqueue_erase(user_id)


def erase(user_id: int) -> None:
    """Erase a person whose grace period is over, in small transactions.

    If the job is killed, the next run continues.
    """
    if not erase_for(user_id, SLICE_S):
        _enqueue_erase(user_id)


def erase_for(user_id: int, limit_s: float) -> bool:
    """Erase a person for at most `limit_s` seconds. Return False if rows are left. The caller must then continue.

    Return True also if the erasure is not due, or if another process is erasing the person.
    """
    stop = monotonic() + limit_s
    with own_connection() as connection, _locked(connection, f"erasure:{user_id}") as is_ours:
        person = _leaving(user_id) if is_ours else None
        if person is None:
            return True
        for step in erasers.steps(person):
            while _is_left(step):
                if monotonic() >= stop:
                    return False
        with unit_of_work():
            erasers.finish(person)
    return True


def reconcile_tombstones() -> list[int]:
    """Enqueue a second erasure of the people whom a restored backup brought back. Return the ids of these people.

    The scheduler runs this job every hour.
    """
    with unit_of_work():
        ids = tombstones.reconcile()
    for user_id in ids:
        _enqueue_erase(user_id)
    return ids


def erase_again() -> int:
    """Erase the people whom a restored backup brought back. Return their number."""
    with unit_of_work():
        ids = tombstones.reconcile()
    for user_id in sorted(ids, reverse=True):  # dependents, who are newer than their caregivers, are erased first
        while not erase_for(user_id, SLICE_S):
            pass
    tombstones.check_keys()
    return len(ids)


def enqueue_erase(user_id: int) -> None:
    """Enqueue the erasure of a person, after the open transaction commits."""
    enqueue_once(erase, user_id, queue=BULK, limit_s=ERASE_LIMIT_S)


def _enqueue_erase(user_id: int) -> None:
    enqueue_once_now(erase, user_id, queue=BULK, limit_s=ERASE_LIMIT_S)


def _leaving(user_id: int) -> ErasureSubject | None:
    """Store a tombstone, which records the erasure. Return the person to erase, or None if the erasure is not due.

    The dependents of a caregiver are erased first.
    """
    dependent = orm.aliased(User)
    is_due = sa.and_(
        User.erasure_due_at <= sa.func.statement_timestamp(), ~sa.exists().where(dependent.guardian_id == User.id)
    )
    with unit_of_work():
        user = db.session.scalar(sa.select(User).where(User.id == user_id, is_due).with_for_update(of=User))
        if user is None:
            return None
        person = erasure.subject_of(user)
        tombstones.create(user, person.posts)
        return person


def _is_left(step: erasers.Step) -> bool:
    with unit_of_work():
        return step()
