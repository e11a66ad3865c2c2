"""Database access: the base class of models, units of work, and connections for reads.

A unit of work is the database transaction of one request, job or command. `unit_of_work` commits this transaction at
its end, or rolls it back. Services flush, but never commit. For a write that must stay saved after the request is
refused, services use `own_transaction`.
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

#: Column values by name, as a schema passes them to a service.
Fields = Mapping[str, Any]
AnySelect = sa.Select[*tuple[Any, ...]]
#: A function that opens a connection, for example `autocommit` or `own_connection`.
Connect = Callable[[], AbstractContextManager[sa.Connection]]
M = TypeVar("M", bound="Base")


#: Predictable constraint names. Migrations and `map_constraint_errors` depend on them.
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(orm.DeclarativeBase):
    """Base class of the models: ids are 64-bit integers, times are timezone-aware."""

    registry = orm.registry(
        metadata=sa.MetaData(naming_convention=NAMES),
        type_annotation_map={int: sa.BigInteger(), str: sa.Text(), datetime: sa.DateTime(timezone=True)},
    )
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012  # SQLAlchemy reads a plain dict

    #: Personal-data declaration of the table. It is also stored in the `info` of the table.
    __personal__: ClassVar[Declaration | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__personal__ is not None:
            cast(sa.Table, cls.__table__).info["personal"] = cls.__personal__


def trigrams(name: str, *columns: str) -> sa.Index:
    """Return a trigram index of these columns, for substring searches."""
    return sa.Index(name, *columns, postgresql_using="gin", postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops"))


class Created:
    """Base class that adds the creation time of a row."""

    created_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now())


class Timestamps(Created):
    """Base class that adds the creation time and the time of the last change of a row."""

    updated_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now(), onupdate=sa.func.now())


db = SQLAlchemy(model_class=Base, session_options={"expire_on_commit": False}, disable_autonaming=True)
migrate = Migrate(directory=str(ROOT / "migrations"))


@dataclass
class UnitOfWork:
    """Callbacks to run after a commit or a rollback of a unit of work."""

    commit: list[Callable[[], object]] = field(default_factory=list)
    rollback: list[Callable[[], object]] = field(default_factory=list)
    #: Whether the unit did something that a rollback cannot undo. The unit is then never retried.
    is_retry_forbidden: bool = False


_open: ContextVar[UnitOfWork | None] = ContextVar("unit_of_work", default=None)


@contextmanager
def unit_of_work() -> Iterator[UnitOfWork]:
    """Commit the changes of the block, or roll them back if the block fails. Then run the callbacks for this outcome.

    An error in a callback is only logged, because the data is already saved. A periodic job later repeats what the
    callback does. Raise RuntimeError if a unit is already open, so that a service cannot commit by mistake.
    """
    if _open.get() is not None:
        raise RuntimeError("a unit of work is open already")
    unit = UnitOfWork()
    token = _open.set(unit)
    due = unit.rollback
    try:
        yield unit
        if db.session.registry.has():  # no session exists if only prepared reads ran
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
            logger.exception("a call after the commit failed; the periodic sweep repeats it")


def after_commit(call: Callable[[], object]) -> None:
    """Run `call` after the open unit of work has committed. Do not run it after a rollback."""
    _open_unit("after_commit").commit.append(call)


def on_rollback(call: Callable[[], object]) -> None:
    """Run `call` if the open unit of work is rolled back. `call` undoes changes outside the database."""
    _open_unit("on_rollback").rollback.append(call)


def forbid_retry() -> None:
    """Mark the open unit of work as not retryable. Call this before an action that a rollback cannot undo."""
    unit = _open.get()
    if unit is not None:
        unit.is_retry_forbidden = True


@contextmanager
def own_transaction() -> Iterator[orm.Session]:
    """Open a session that commits at the end of the block. The commit stays if the open unit of work is rolled back.

    Use the session for writes that must stay saved after a request is refused, for example a log entry. The open unit
    of work is not retried afterwards. Call this function before the first statement of the unit.
    """
    _refuse_second_connection()
    forbid_retry()
    with orm.Session(db.engine, join_transaction_mode="create_savepoint") as session, session.begin():
        yield session


def _open_unit(function: str) -> UnitOfWork:
    unit = _open.get()
    if unit is None:
        raise RuntimeError(f"{function}() outside a unit of work")
    return unit


def autocommit() -> AbstractContextManager[sa.Connection]:
    """Open a connection in autocommit mode: each statement is its own transaction, without BEGIN, COMMIT or reset.

    Use the connection for reads and for single-statement writes. It does not see uncommitted changes of the open unit
    of work. Inside a transaction, use `current_connection`.
    """
    _refuse_second_connection()
    engine: sa.Engine = current_app.extensions["autocommit"]
    return engine.connect()


@contextmanager
def current_connection() -> Iterator[sa.Connection]:
    """Yield the connection of the open unit of work. If the unit has no connection yet, yield one from `autocommit`.

    Use this for statements that run both inside and outside a transaction, such as reading the database's clock.
    """
    if _holds_connection():
        yield db.session.connection()
    else:
        with autocommit() as connection:
            yield connection


def _refuse_second_connection() -> None:
    """Raise RuntimeError if the open unit of work has a connection. In production, only log an error.

    The caller is about to open a second connection. If each request holds one connection and waits for a second one,
    the pool is empty and all these requests block.
    """
    if not _holds_connection():
        return
    if settings.is_production:
        logger.error("a second database connection was opened inside a transaction", stack_info=True)
    else:
        raise RuntimeError("a second connection inside a transaction")


def _holds_connection() -> bool:
    """Return whether the open unit of work has a connection.

    The first statement of a unit takes a connection. The unit keeps the connection and its locks until it ends.
    """
    return _open.get() is not None and db.session.registry.has() and db.session().in_transaction()


@contextmanager
def own_connection() -> Iterator[sa.Connection]:
    """Open a read-only connection outside the pools and close it after the block.

    Use it for long reads such as exports, because they would occupy a connection of a pool for too long. Also use it
    for locks that are held during such a read. The block may end in another thread or outside any application context.
    """
    engine: sa.Engine = current_app.extensions["streams"]
    with engine.connect() as connection:
        yield connection


def replica_connection() -> sa.Connection | None:
    """Open a read-only connection to the replica. Return None if there is no replica or it cannot be reached.

    The data of the replica may be out of date, and this delay has no limit. Use the replica for exports, statistics and
    the read-only console.
    """
    engine: sa.Engine | None = current_app.extensions["replica"]
    try:
        return None if engine is None else engine.connect()
    except DBAPIError as error:
        logger.warning("the replica cannot be reached, so the primary is read: %s", type(error.orig).__name__)
        return None


def replica_or(primary: Connect) -> AbstractContextManager[sa.Connection]:
    """Open a connection to the replica. If there is no replica, call `primary`."""
    return replica_connection() or primary()


@contextmanager
def map_constraint_errors(errors: Mapping[str, AppError], *, in_use: AppError | None = None) -> Iterator[None]:
    """Replace violations of database constraints by errors of the application.

    `errors` maps constraint names to errors. `in_use` is raised if the block deletes a row that other rows refer to.
    The block runs in a savepoint, so the unit of work stays usable after an error.
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
    """Return the row with this primary key. Raise `NotFound` if the row is missing or the key is out of range."""
    row = db.session.get(model, key) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def get_locked_or_404(model: type[M], key: object, message: str | None = None, *, key_share: bool = False) -> M:
    """Return the current row, locked until the unit of work ends. Raise `NotFound` in the same cases as `get_or_404`.

    Call this before you change or delete the row, or rows that belong to it. Concurrent requests then wait for each
    other. If `key_share` is set, other transactions can insert rows that refer to this row. Do not set it for a
    deletion.
    """
    lock = {"of": model, "key_share": key_share}
    row = db.session.get(model, key, with_for_update=lock, populate_existing=True) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def _is_possible(key: object) -> bool:
    """Return whether a row can have this key. PostgreSQL rejects a query with too large a number or a NUL character."""
    return abs(key) < 2**63 if isinstance(key, int) else "\0" not in str(key)


def assign(row: M, data: Fields) -> M:
    """Set the columns of `row` to the values in `data`. Send the changes to the database, without a commit."""
    for name, value in data.items():
        setattr(row, name, value)
    db.session.flush()
    return row
