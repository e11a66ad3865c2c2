"""Database access: base class, unit of work, callbacks after a commit, and connections for reads.

Services flush and never commit. `unit_of_work` at the edge (request, job, command) commits once or rolls back. Use
`own_transaction` for writes that must survive a refused request.
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

#: Columns and their values, as a schema passes them to a service. A TypedDict of the section lists the keys.
Fields = Mapping[str, Any]
AnySelect = sa.Select[*tuple[Any, ...]]
#: A function that opens a connection, such as `autocommit` or `own_connection`.
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
    """Base class of the models: ids are 64-bit, times are timezone-aware."""

    registry = orm.registry(
        metadata=sa.MetaData(naming_convention=NAMES),
        type_annotation_map={int: sa.BigInteger(), str: sa.Text(), datetime: sa.DateTime(timezone=True)},
    )
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012  # SQLAlchemy reads a plain dict

    #: Personal-data declaration of the table, which is also in the `info` of the table.
    __personal__: ClassVar[Declaration | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__personal__ is not None:
            cast(sa.Table, cls.__table__).info["personal"] = cls.__personal__


def trigrams(name: str, *columns: str) -> sa.Index:
    """Return a trigram index for substring searches in these columns."""
    return sa.Index(name, *columns, postgresql_using="gin", postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops"))


class Created:
    """Mixin with the creation time of a row."""

    created_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now())


class Timestamps(Created):
    """Mixin with the creation time and the last change of a row."""

    updated_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now(), onupdate=sa.func.now())


db = SQLAlchemy(model_class=Base, session_options={"expire_on_commit": False}, disable_autonaming=True)
migrate = Migrate(directory=str(ROOT / "migrations"))


@dataclass
class UnitOfWork:
    """Callbacks of a unit of work, by outcome, and whether the unit may be retried."""

    commit: list[Callable[[], object]] = field(default_factory=list)
    rollback: list[Callable[[], object]] = field(default_factory=list)
    #: Whether the unit did something that a rollback does not undo. Such a unit is never retried.
    is_retry_forbidden: bool = False


_open: ContextVar[UnitOfWork | None] = ContextVar("unit_of_work", default=None)


@contextmanager
def unit_of_work() -> Iterator[UnitOfWork]:
    """Commit everything that the block did, or roll it all back. Then run the callbacks for that outcome.

    A failing callback is only logged: the data is saved, and a sweep repeats the effect later.
    Raise RuntimeError if a unit is already open, so that code below the edge cannot commit by mistake.
    """
    if _open.get() is not None:
        raise RuntimeError("a unit of work is open already")
    unit = UnitOfWork()
    token = _open.set(unit)
    due = unit.rollback
    try:
        yield unit
        if db.session.registry.has():  # false if only prepared reads ran
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
    """Run `call` after the open unit of work has committed. A rollback discards `call`."""
    _open_unit("after_commit").commit.append(call)


def on_rollback(call: Callable[[], object]) -> None:
    """Run `call` if the open unit of work is rolled back, to undo changes outside the database."""
    _open_unit("on_rollback").rollback.append(call)


def forbid_retry() -> None:
    """Mark the open unit of work as not retryable, because a rollback cannot undo the next action."""
    unit = _open.get()
    if unit is not None:
        unit.is_retry_forbidden = True


@contextmanager
def own_transaction() -> Iterator[orm.Session]:
    """Open a session that commits at the end of the block, even if the open unit of work is rolled back.

    Use it for writes that must survive a refused request, such as a counted attempt or a log entry. The open unit is
    never retried after it.
    Like `autocommit`, call it before the first statement of the unit.
    """
    _refuse_second_connection()
    forbid_retry()
    with orm.Session(db.engine, join_transaction_mode="create_savepoint") as session, session.begin():
        yield session


def _open_unit(asked_by: str) -> UnitOfWork:
    unit = _open.get()
    if unit is None:
        raise RuntimeError(f"{asked_by}() outside a unit of work")
    return unit


def autocommit() -> AbstractContextManager[sa.Connection]:
    """Open a connection in autocommit mode: each statement is its own transaction, without BEGIN, COMMIT or reset.

    Use it for reads and for single-statement writes. It does not see uncommitted changes of the open unit of work.
    Inside a transaction, use `current_connection`.
    """
    _refuse_second_connection()
    engine: sa.Engine = current_app.extensions["autocommit"]
    return engine.connect()


@contextmanager
def current_connection() -> Iterator[sa.Connection]:
    """Yield the connection that the open unit of work holds. If it holds none, yield a connection of `autocommit`.

    Use it for statements that run both inside and outside a transaction, such as reading the database's clock.
    """
    if _holds_connection():
        yield db.session.connection()
    else:
        with autocommit() as connection:
            yield connection


def _refuse_second_connection() -> None:
    """Raise RuntimeError if the open unit of work holds a connection. In production only log an error.

    A request that holds one connection and waits for a second can exhaust the pool, so that requests block each other.
    """
    if not _holds_connection():
        return
    if settings.is_production:
        logger.error("a second connection was taken inside a transaction", stack_info=True)
    else:
        raise RuntimeError("a second connection inside a transaction")


def _holds_connection() -> bool:
    """Return whether the open unit of work holds a connection.

    A unit takes a connection with its first statement. It keeps the connection and all locks until it ends.
    """
    return _open.get() is not None and db.session.registry.has() and db.session().in_transaction()


@contextmanager
def own_connection() -> Iterator[sa.Connection]:
    """Open a read-only connection outside the pools and close it after the block.

    Use it for long reads such as exports, and for locks that last as long. A long block takes no connection from a
    pool.
    The block may end in another thread or outside any application context.
    """
    engine: sa.Engine = current_app.extensions["streams"]
    with engine.connect() as connection:
        yield connection


def replica_connection() -> sa.Connection | None:
    """Open a read-only connection to the replica. Return None if there is no replica or it cannot be reached.

    The replica's data may be stale by any amount. Use it for exports, statistics and the read-only console.
    """
    engine: sa.Engine | None = current_app.extensions["replica"]
    try:
        return None if engine is None else engine.connect()
    except DBAPIError as error:
        logger.warning("the replica cannot be reached, so the primary is read: %s", type(error.orig).__name__)
        return None


def replica_or(primary: Connect) -> AbstractContextManager[sa.Connection]:
    """Open a connection to the replica, or call `primary` if there is none."""
    return replica_connection() or primary()


@contextmanager
def map_constraint_errors(errors: Mapping[str, AppError], *, in_use: AppError | None = None) -> Iterator[None]:
    """Replace constraint violations by errors of the application.

    `errors` maps constraint names to errors. `in_use` is raised when other rows still refer to the deleted row.
    The block runs in a savepoint, so the unit of work stays usable.
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
    """Return the row with this primary key. Raise `NotFound` if it is missing or the key is out of range."""
    row = db.session.get(model, key) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def get_locked_or_404(model: type[M], key: object, message: str | None = None, *, key_share: bool = False) -> M:
    """Return the current row, locked until the unit of work ends. Raise `NotFound` like `get_or_404`.

    Lock a record this way before changing or deleting it or its children. If two requests arrive together, the second
    waits and then reads the result of the first.
    With `key_share`, other transactions can still insert rows that refer to it. Use this for changes, not for
    deletions.
    """
    lock = {"of": model, "key_share": key_share}
    row = db.session.get(model, key, with_for_update=lock, populate_existing=True) if _is_possible(key) else None
    if row is None:
        raise NotFound(message)
    return row


def _is_possible(key: object) -> bool:
    """Return whether the key fits the column. PostgreSQL would reject the query otherwise."""
    return abs(key) < 2**63 if isinstance(key, int) else "\0" not in str(key)


def assign(row: M, data: Fields) -> M:
    """Set the columns in `data` and flush."""
    for name, value in data.items():
        setattr(row, name, value)
    db.session.flush()
    return row
