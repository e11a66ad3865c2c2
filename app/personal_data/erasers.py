"""Erasure of a person's rows in each table, in small batches. Each table declares in `Personal` how to erase its rows.

The function `steps` yields the steps of an erasure. Each step runs in its own transaction, and is repeated until the
step returns False. If the process is killed, the erasure starts again and erases the remaining rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import sqlalchemy as sa

from app.core.database.personal import Custom, Detach, Personal, is_of, personal_tables
from app.core.database.session import Base, db
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.core.web import idempotency
from app.forum.service import erasure as forum
from app.forum.service import marks
from app.identity import audit
from app.identity.erasure import ErasureSubject
from app.identity.models import OwnPicture, User
from app.personal_data.models import DataExport

#: Maximum rows to erase per transaction.
BATCH = 500
#: Maximum files to delete per transaction.
FILES = 50

#: A function that erases one batch. It returns True if there may be more to erase.
Step = Callable[[], bool]


def _erase_pictures(person: ErasureSubject) -> bool:
    """Delete each file before its row, so that the next run still finds the file if this job is killed in between."""
    names = sa.select(OwnPicture.name).where(OwnPicture.user_id == person.id).limit(FILES)
    return _remove_files(pictures.store().remove, list(db.session.scalars(names)), OwnPicture.name)


def _erase_exports(person: ErasureSubject) -> bool:
    files = sa.select(DataExport.file).where(DataExport.user_id == person.id).limit(FILES)
    return _remove_files(storage.area(Area.EXPORTS).remove, list(db.session.scalars(files)), DataExport.file)


def _remove_files(remove: Callable[[str], None], names: list[str], column: sa.orm.InstrumentedAttribute[str]) -> bool:
    for name in names:
        remove(name)
    db.session.execute(sa.delete(column.class_).where(column.in_(names)).execution_options(synchronize_session=False))
    return len(names) == FILES


def _erase_audit(person: ErasureSubject) -> bool:
    """Empty the IP addresses of the person's audit entries. A trigger allows this while the person's erasure is due."""
    # Lock this user's row, so that no other process deletes the row before the commit.
    is_there = sa.select(User.id).where(User.id == person.id).with_for_update(read=True, key_share=True)
    if db.session.scalar(is_there) is None:
        return False
    entries: sa.Table = Base.metadata.tables["audit_entries"]
    own = sa.and_(entries.c.actor_id == person.id, entries.c.ip.is_not(None))
    return _count(sa.update(entries).where(_batch(entries, own)).values(ip=None)) == BATCH


#: Erasers of tables that declare `Custom`. The table `users` is not here, because `finish` erases the user last.
ERASERS: Mapping[str, Callable[[ErasureSubject], bool]] = {
    "own_pictures": _erase_pictures,
    "data_exports": _erase_exports,
    "posts": forum.erase_posts,
    "marks": forum.erase_marks,
    "cases": forum.erase_appeals,
    "audit_entries": _erase_audit,
}

#: Tables with names of files. They are erased first, together with the files.
FIRST = (OwnPicture.__tablename__, DataExport.__tablename__)


def steps(person: ErasureSubject) -> Iterator[Step]:
    """Yield the steps that erase everything except the person's row in `users`."""
    for name in FIRST:
        yield partial(ERASERS[name], person)
    for table, declaration in personal_tables(Base.metadata):
        if table is User.__table__:
            continue
        for name in declaration.mentions:
            yield partial(_detach, table, name, (), person)
        yield from _steps_of(table, declaration, person)
    yield partial(_empty_answers, person)


def finish(person: ErasureSubject) -> None:
    """Erase the person and all their remaining rows in one transaction.

    Lock posts before users, because all writes of the forum lock in this order.
    """
    marks.remove_all(person.id)
    user = db.session.get(User, person.id, with_for_update={"of": User}, populate_existing=True)
    if user is None:
        return
    marks.remove_all(person.id)
    for step in steps(person):
        while step():
            pass
    if user.image is not None:
        pictures.store().remove(user.image)
    audit.record(None, audit.AuditAction.ERASED, f"user:{person.id}")
    db.session.expunge(user)
    db.session.execute(sa.delete(User).where(User.id == person.id).execution_options(synchronize_session=False))


def _steps_of(table: sa.Table, declaration: Personal, person: ErasureSubject) -> Iterator[Step]:
    match declaration.erase:
        case Custom():
            yield partial(ERASERS[table.name], person)
        case Detach(clears):
            for name in declaration.of:
                yield partial(_detach, table, name, clears, person)
        case _:
            yield partial(_delete, table, declaration, person)


def _delete(table: sa.Table, declaration: Personal, person: ErasureSubject) -> bool:
    statement = sa.delete(table).where(_batch(table, is_of(table, declaration, person)))
    return _count(statement) == BATCH


def _detach(table: sa.Table, name: str, clears: tuple[str, ...], person: ErasureSubject) -> bool:
    statement = sa.update(table).where(_batch(table, table.c[name] == person.id))
    return _count(statement.values(dict.fromkeys((name, *clears), None))) == BATCH


def _batch(table: sa.Table, which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Return an SQL condition that selects and locks at most `BATCH` rows.

    The rows are not sorted, because for sorting, PostgreSQL would scan the whole table. The condition uses a CTE,
    because a CTE with locks runs once. A subquery may run again and select other rows.
    """
    key = list(table.primary_key)
    batch = sa.select(*key).where(which).limit(BATCH).with_for_update().cte("batch")
    return sa.tuple_(*key).in_(sa.select(batch))


def _count(statement: sa.Delete | sa.Update) -> int:
    result = db.session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # a changing statement's result counts rows


def _empty_answers(person: ErasureSubject) -> bool:
    """Clear the stored idempotent responses in which administrators got data of the person."""
    idempotency.clear("admins.create_admin", record_id=person.id)
    return False
