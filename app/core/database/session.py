"""The database: base class, unit of work, what runs after a commit, and connections for reads.

Services flush and never commit; `unit_of_work` at the edge (request, job, command) commits once or not at all. What has
to outlive a refusal stands in an `own_transaction`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, TypeVar, cast

import sqlalchemy as sa
from flask import current_app
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from psycopg2 import errors as pg
from sqlalchemy import orm
from sqlalchemy.exc import DBAPIError, IntegrityError

from app.core.database.personal import Declaration
from app.core.errors import AppError, NotFound
from app.core.settings import settings
from config import ROOT

logger = logging.getLogger(__name__)

#: Columns and their values, as a service gets them from a schema. A TypedDict of the section says which.
Fields = Mapping[str, Any]
#: A SELECT of any columns.
AnySelect = sa.Select[*tuple[Any, ...]]
#: What opens a connection, such as `autocommit` or `own_connection`.
Connect = Callable[[], AbstractContextManager[sa.Connection]]
M = TypeVar("M", bound="Base")


#: Predictable names for constraints, which migrations and `translating` rely on.
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(orm.DeclarativeBase):
    """Identifiers are 64-bit and times are aware."""

    registry = orm.registry(
        metadata=sa.MetaData(naming_convention=NAMES),
        type_annotation_map={int: sa.BigInteger(), str: sa.Text(), datetime: sa.DateTime(timezone=True)},
    )
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012  # SQLAlchemy reads a plain dict

    #: What the rows are to people. The table's `info` has it too, beside that of tables without a class.
    __personal__: ClassVar[Declaration | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__personal__ is not None:
            cast(sa.Table, cls.__table__).info["personal"] = cls.__personal__


def trigrams(name: str, *columns: str) -> sa.Index:
    """The index that finds a part of a text in any of these columns."""
    return sa.Index(name, *columns, postgresql_using="gin", postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops"))


class Created:
    """When the row was made."""

    created_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now())


class Timestamps(Created):
    """When the row was made and last changed."""

    updated_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now(), onupdate=sa.func.now())


db = SQLAlchemy(model_class=Base, session_options={"expire_on_commit": False}, disable_autonaming=True)
migrate = Migrate(directory=str(ROOT / "migrations"))


@dataclass
class UnitOfWork:
    """What is called after a unit of work, by how it ends, and whether it may be done over."""

    commit: list[Callable[[], object]] = field(default_factory=list)
    rollback: list[Callable[[], object]] = field(default_factory=list)
    #: Whether something happened in it that a rollback does not undo.
    has_left_traces: bool = False


_open: ContextVar[UnitOfWork | None] = ContextVar("unit_of_work", default=None)


@contextmanager
def unit_of_work() -> Iterator[UnitOfWork]:
    """Commit what happens inside, or nothing of it; then call what was to be called after that end.

    A call after the end that fails is logged and passed over: the data is saved, and the sweeps make the effect
    good. Units do not nest, so that nobody below an edge commits by mistake.
    """
    if _open.get() is not None:
        raise RuntimeError("a unit of work is open already")
    unit = UnitOfWork()
    token = _open.set(unit)
    due = unit.rollback
    try:
        yield unit
        if db.session.registry.has():  # prepared reads never open one
            db.session.commit()
        due = unit.commit
    except BaseException:
        db.session.rollback()
        raise
    finally:
        _open.reset(token)
        db.session.remove()
        _run(due)


def _run(calls: list[Callable[[], object]]) -> None:
    for call in calls:
        try:
            call()
        except Exception:
            logger.exception("a call after a unit of work failed; its sweep makes it good")


def after_commit(call: Callable[[], object]) -> None:
    """Run `call` once the open unit of work has committed; a rollback drops it."""
    _open_unit("after_commit").commit.append(call)


def on_rollback(call: Callable[[], object]) -> None:
    """Run `call` when the open unit of work is rolled back, to undo what the database cannot."""
    _open_unit("on_rollback").rollback.append(call)


def leave_trace() -> None:
    """Note that something is done now which no rollback undoes, so that the open unit of work is never done over."""
    unit = _open.get()
    if unit is not None:
        unit.has_left_traces = True


@contextmanager
def own_transaction() -> Iterator[orm.Session]:
    """A session whose work is committed at the end of the block, whatever becomes of the open unit of work.

    For what has to outlive a refusal: a try that counts, an entry of what follows. A rollback does not undo it, so the
    open unit is never done over. Like `autocommit` it comes before the unit's first statement.
    """
    _refuse_second_connection()
    leave_trace()
    with orm.Session(db.engine, join_transaction_mode="create_savepoint") as session, session.begin():
        yield session


def _open_unit(asked_by: str) -> UnitOfWork:
    unit = _open.get()
    if unit is None:
        raise RuntimeError(f"{asked_by}() outside a unit of work")
    return unit


def autocommit() -> AbstractContextManager[sa.Connection]:
    """A connection on which each statement is a transaction of its own, without BEGIN, COMMIT or a reset on return.

    For reads, and for what one statement writes. It sees what is committed, not what the open unit of work has written.
    Inside a transaction use `current_connection`.
    """
    _refuse_second_connection()
    engine: sa.Engine = current_app.extensions["autocommit"]
    return engine.connect()


@contextmanager
def current_connection() -> Iterator[sa.Connection]:
    """Give the connection that the open unit of work holds, or one of `autocommit` while it holds none.

    For statements that run both inside and outside of a transaction, such as the question for the time.
    """
    if _holds_connection():
        yield db.session.connection()
    else:
        with autocommit() as connection:
            yield connection


def _refuse_second_connection() -> None:
    """Raise while the open unit of work holds a connection; production logs an error and goes on.

    Requests that hold one connection and wait for another can use up a pool and block each other until they time out.
    """
    if not _holds_connection():
        return
    if settings.is_production:
        logger.error("a second connection was taken inside a transaction", stack_info=True)
    else:
        raise RuntimeError("a second connection inside a transaction")


def _holds_connection() -> bool:
    """Return whether the open unit of work has begun its transaction: from its first statement or change to its end.

    Its session takes a connection from the pool with the first statement and keeps it, with every lock, until then.
    """
    return _open.get() is not None and db.session.registry.has() and db.session().in_transaction()


@contextmanager
def own_connection() -> Iterator[sa.Connection]:
    """A connection opened for this alone, and closed after it: however long it is held, no pool lacks it.

    For reads that take long, as an export does, and for a lock that lasts as long as it. It cannot write. It may be
    left, and given up, in another thread or outside of any context.
    """
    engine: sa.Engine = current_app.extensions["streams"]
    with engine.connect() as connection:
        yield connection


def replica_connection() -> sa.Connection | None:
    """Return a new connection to the replica; None without a replica, or if it cannot be reached.

    Its data may be old by any time: for exports, statistics and the read-only console. It cannot write.
    """
    engine: sa.Engine | None = current_app.extensions["replica"]
    try:
        return None if engine is None else engine.connect()
    except DBAPIError as error:
        logger.warning("the replica cannot be reached, so the primary is read: %s", type(error.orig).__name__)
        return None


def replica_or(primary: Connect) -> AbstractContextManager[sa.Connection]:
    """Return a connection to the replica, or by `primary` if there is none."""
    return replica_connection() or primary()


@contextmanager
def translating(errors: Mapping[str, AppError], *, in_use: AppError | None = None) -> Iterator[None]:
    """Turn a violated constraint into its meaning.

    `errors` maps constraint names to the errors to raise; `in_use` is raised when other rows still refer to what is
    deleted. The statements inside run in a savepoint, so the unit of work stays usable.
    """
    try:
        with db.session.begin_nested():
            yield
            db.session.flush()
    except IntegrityError as error:
        name = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
        if name and name in errors:
            raise errors[name] from None
        if in_use and isinstance(error.orig, (pg.ForeignKeyViolation, pg.RestrictViolation)):
            raise in_use from None
        raise


def get_or_404(model: type[M], key: object, message: str | None = None) -> M:
    """The row with this primary key; `NotFound` without one, also for keys that no row can have."""
    row = db.session.get(model, key) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def get_locked_or_404(model: type[M], key: object, message: str | None = None, *, key_share: bool = False) -> M:
    """Like `get_or_404`, with the row as it is now, locked until the unit of work ends.

    Whoever changes or deletes a record takes it so, before its children: of two who meet, the second waits and then
    finds what the first has left. With `key_share` rows that refer to it can be added meanwhile: for a change alone.
    """
    lock = {"of": model, "key_share": key_share}
    row = db.session.get(model, key, with_for_update=lock, populate_existing=True) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def _is_possible(key: object) -> bool:
    """Whether a column can hold the key at all; PostgreSQL refuses the question otherwise."""
    return abs(key) < 2**63 if isinstance(key, int) else "\0" not in str(key)


def assign(row: M, data: Fields) -> M:
    """Set the columns that `data` names and flush."""
    for name, value in data.items():
        setattr(row, name, value)
    db.session.flush()
    return row
