"""What is done for people's own data outside requests: exports are made, and removed after a day; people are erased."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from time import monotonic

import sqlalchemy as sa
from flask_migrate import upgrade
from redis.exceptions import RedisError

from app.core.database import clock as database_clock
from app.core.database.session import after_commit, db, own_connection, unit_of_work
from app.core.exports import folder as folders
from app.core.jobs.queue import BULK, enqueue_once, enqueue_once_now
from app.core.media import storage
from app.core.media.storage import Room
from app.identity import dependents, erasure
from app.identity.erasure import Leaving
from app.identity.models import User
from app.logs import jobs as logs
from app.personal_data import archive, erasers, tombstones
from app.personal_data.models import DataExport

CONTENT_TYPE = "application/zip"

#: How long a file is kept, and how long the row of one that could not be made.
KEPT = timedelta(hours=24)
GIVEN_UP = timedelta(days=2)
#: How long the first attempt has before the sweep looks after it; each further one has twice as long, up to two hours.
RETRY = timedelta(minutes=1)
MOST_DOUBLINGS = 7
#: Seconds that a job may take.
EXPORT_LIMIT_S = 900
#: A file of no row this young may be of one that has not committed yet.
ORPHAN_AGE = timedelta(hours=1)
BATCH = 100


def enqueue_export(export_id: int) -> None:
    """Once the open unit of work has committed."""
    enqueue_once(make_export, export_id, queue=BULK, limit_s=EXPORT_LIMIT_S)


def make_waiting_exports() -> None:
    """The sweep: what was lost, or failed, is enqueued again."""
    with unit_of_work():
        waiting = sa.select(DataExport.id).where(
            DataExport.ready_at.is_(None), DataExport.next_try_at <= database_clock.now()
        )
        ids = db.session.scalars(waiting.order_by(DataExport.next_try_at).limit(BATCH)).all()
    for export_id in ids:
        enqueue_once_now(make_export, export_id, queue=BULK, limit_s=EXPORT_LIMIT_S)


def make_export(export_id: int) -> None:
    """Make the file of an export. Killed at any line, it begins anew and replaces what it had stored.

    Whoever makes it holds a lock of its connection, which ends with the process; another leaves it alone meanwhile.
    """
    with own_connection() as connection, _locked(connection, f"data_export:{export_id}") as is_ours:
        export = _begin(export_id) if is_ours else None
        user = _owner(export) if export is not None else None
        if export is None or user is None:
            return
        with folders.export_folder() as folder:
            path = folder / "export.zip"
            archive.write(path, user, connection)
            storage.room(Room.EXPORTS).put_file(export.file, path, CONTENT_TYPE)
        if not _finish(export_id):  # its person has gone meanwhile
            storage.room(Room.EXPORTS).remove(export.file)


def drop_old_exports() -> None:
    """Remove the files that were kept for long enough, then those that no row names, and what killed jobs left."""
    now = database_clock.now()
    is_over = sa.or_(DataExport.ready_at <= now - KEPT, DataExport.created_at <= now - GIVEN_UP)
    with unit_of_work():
        gone = sa.delete(DataExport).where(is_over).returning(DataExport.file)
        for file in db.session.scalars(gone.execution_options(synchronize_session=False)):
            remove_file(file)
    with unit_of_work():
        known = set(db.session.scalars(sa.select(DataExport.file)))
    for name, stored_at in list(storage.room(Room.EXPORTS).names()):
        if name not in known and stored_at < now - ORPHAN_AGE:
            storage.room(Room.EXPORTS).remove(name)
    folders.sweep()


def remove_file(file: str) -> None:
    """Remove a file once the open unit of work has committed."""
    room = storage.room(Room.EXPORTS)
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
    """Count an attempt; None for an export that is made already or gone."""
    doublings = sa.func.least(DataExport.attempts, MOST_DOUBLINGS)
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

#: Seconds after which an erasure makes room for other jobs, and that it may take at most.
SLICE_S = 20.0
ERASE_LIMIT_S = 120


def erase_due() -> None:
    """The sweep: whose grace is over is erased, and who was left in the middle goes on."""
    due = sa.select(User.id).where(User.erasure_due_at <= sa.func.statement_timestamp()).order_by(User.erasure_due_at)
    with unit_of_work():
        ids = db.session.scalars(due.limit(BATCH)).all()
    for user_id in ids:
        _enqueue_erase(user_id)


def erase(user_id: int) -> None:
    """Erase a person whose grace is over, in small transactions. Killed at any line, the next run goes on."""
    if not erase_for(user_id, SLICE_S):
        _enqueue_erase(user_id)


def erase_for(user_id: int, limit_s: float) -> bool:
    """As `erase`, for so long; returns whether all is done, or somebody else is at it."""
    stop = monotonic() + limit_s
    with own_connection() as connection, _locked(connection, f"erasure:{user_id}") as is_ours:
        person = _leaving(user_id) if is_ours else None
        if person is None:
            return True
        if not all(erase_for(id_, stop - monotonic()) for id_ in _dependents_of(user_id)) or _dependents_of(user_id):
            return False
        with suppress(RedisError):  # what cannot wait there is stored at once
            logs.ingest_all()
        for step in erasers.steps(person):
            while _is_left(step):
                if monotonic() >= stop:
                    return False
        with unit_of_work():
            erasers.finish(person)
    return True


def tend_tombstones() -> list[int]:
    """The sweep: who was erased and is there again, from a backup, is erased again; returns whom."""
    with unit_of_work():
        ids = tombstones.tend()
    for user_id in ids:
        _enqueue_erase(user_id)
    return ids


def erase_again() -> int:
    """Erase whom a restored backup brought back; returns how many. The schema is brought up to date before."""
    if not tombstones.stored_names():
        return 0
    upgrade()
    with unit_of_work():
        ids = tombstones.tend()
    for user_id in ids:
        while not erase_for(user_id, SLICE_S):
            pass
    tombstones.check_keys()
    return len(ids)


def _enqueue_erase(user_id: int) -> None:
    enqueue_once_now(erase, user_id, queue=BULK, limit_s=ERASE_LIMIT_S)


def _leaving(user_id: int) -> Leaving | None:
    """Who is to be erased now, the tombstone made; None for who stays, or is gone."""
    with unit_of_work():
        is_due = User.erasure_due_at <= sa.func.statement_timestamp()
        user = db.session.scalar(sa.select(User).where(User.id == user_id, is_due).with_for_update(of=User))
        if user is None:
            return None
        person = erasure.leaving(user)
        tombstones.raise_for(user, person.posts)
        return person


def _dependents_of(user_id: int) -> list[int]:
    """The dependents of a caregiver who is being erased: they are erased first, and due by now."""
    with unit_of_work():
        return dependents.erase_with(user_id)


def _is_left(step: erasers.Step) -> bool:
    with unit_of_work():
        return step()
