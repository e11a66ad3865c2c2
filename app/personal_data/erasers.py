"""How the rows of each table go when their person does: by what the table declares, a small batch at a time.

Each step is called in a unit of work until it says that nothing is left. Killed between any two, it is begun again and
finds less to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import sqlalchemy as sa

from app.core.database.personal import Custom, Detach, Personal, is_of, personal_tables
from app.core.database.session import Base, db
from app.core.media import pictures, storage
from app.core.media.storage import Room
from app.core.web import idempotency
from app.forum.service import erasure as forum
from app.forum.service import toggles
from app.identity import audit
from app.identity.erasure import Leaving
from app.identity.models import OwnPicture, User
from app.personal_data.models import DataExport

#: Rows of one transaction.
BATCH = 500
#: Files of one transaction.
FILES = 50

#: Blueprints with creates whose answers show people to somebody else.
ABOUT_PEOPLE = ("admins", "moderasi")

#: Does a batch of the work; returns whether there may be more.
Step = Callable[[], bool]


def _erase_pictures(person: Leaving) -> bool:
    """The files first: a row that names no file any more is found again, a file that no row names is not."""
    names = sa.select(OwnPicture.name).where(OwnPicture.user_id == person.id).limit(FILES)
    return _remove_files(pictures.remove, list(db.session.scalars(names)), OwnPicture.name)


def _erase_exports(person: Leaving) -> bool:
    files = sa.select(DataExport.file).where(DataExport.user_id == person.id).limit(FILES)
    return _remove_files(storage.room(Room.EXPORTS).remove, list(db.session.scalars(files)), DataExport.file)


def _remove_files(remove: Callable[[str], None], names: list[str], column: sa.orm.InstrumentedAttribute[str]) -> bool:
    for name in names:
        remove(name)
    db.session.execute(sa.delete(column.class_).where(column.in_(names)).execution_options(synchronize_session=False))
    return len(names) == FILES


def _erase_audit(person: Leaving) -> bool:
    # The log forgets only while the person is due, so that nobody deletes them meanwhile.
    is_there = sa.select(User.id).where(User.id == person.id).with_for_update(read=True, key_share=True)
    if db.session.scalar(is_there) is not None:
        audit.forget(person)
    return False


#: What tables that declare `Custom` need. `users` itself goes last, see `finish`.
ERASERS: Mapping[str, Callable[[Leaving], bool]] = {
    "own_pictures": _erase_pictures,
    "data_exports": _erase_exports,
    "forum_threads": forum.erase_threads,
    "forum_replies": forum.erase_replies,
    "forum_thread_marks": forum.erase_marks,
    "forum_reply_marks": forum.erase_marks,
    "audit_entries": _erase_audit,
}

#: What has files, before the rows that name them.
FIRST = (OwnPicture.__tablename__, DataExport.__tablename__)


def steps(person: Leaving) -> Iterator[Step]:
    """All that is to be done before the person's own row goes."""
    for name in FIRST:
        yield partial(ERASERS[name], person)
    for table, declaration in personal_tables(Base.metadata):
        if table is User.__table__:
            continue
        for name in declaration.mentions:
            yield partial(_detach, table, name, (), person)
        yield from _steps_of(table, declaration, person)
    yield partial(_empty_answers, person)


def finish(person: Leaving) -> None:
    """Everything that is left, and the person: in one transaction, which nobody comes between.

    Posts are locked before people, as by everybody who writes in the forum.
    """
    toggles.take_back_all(person.id)
    user = db.session.get(User, person.id, with_for_update={"of": User}, populate_existing=True)
    if user is None:
        return
    toggles.take_back_all(person.id)
    for step in steps(person):
        while step():
            pass
    if user.image is not None:
        pictures.remove(user.image)
    audit.record(None, audit.Action.ERASED, f"user:{person.id}")
    db.session.expunge(user)
    db.session.execute(sa.delete(User).where(User.id == person.id).execution_options(synchronize_session=False))


def _steps_of(table: sa.Table, declaration: Personal, person: Leaving) -> Iterator[Step]:
    match declaration.erase:
        case Custom():
            yield partial(ERASERS[table.name], person)
        case Detach(clears):
            for name in declaration.of:
                yield partial(_detach, table, name, clears, person)
        case _:
            yield partial(_delete, table, declaration, person)


def _delete(table: sa.Table, declaration: Personal, person: Leaving) -> bool:
    statement = sa.delete(table).where(_batch(table, is_of(table, declaration, person)))
    return _count(statement) == BATCH


def _detach(table: sa.Table, name: str, clears: tuple[str, ...], person: Leaving) -> bool:
    statement = sa.update(table).where(_batch(table, table.c[name] == person.id))
    return _count(statement.values(dict.fromkeys((name, *clears), None))) == BATCH


def _batch(table: sa.Table, which: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """So many of the rows, in no order: with one the planner would walk a whole table along its key.

    A CTE with locks runs once. A subquery may run anew for each row of the table, and find other rows each time.
    """
    key = list(table.primary_key)
    batch = sa.select(*key).where(which).limit(BATCH).with_for_update().cte("batch")
    return sa.tuple_(*key).in_(sa.select(batch))


def _count(statement: sa.Delete | sa.Update) -> int:
    result = db.session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # a changing statement's result counts rows


def _empty_answers(person: Leaving) -> bool:
    """Empty the answers that are kept for repeated requests of administrators and name the person."""
    for blueprint in ABOUT_PEOPLE:
        idempotency.forget_texts(blueprint, person.identifiers, values=person.names)
    return False
