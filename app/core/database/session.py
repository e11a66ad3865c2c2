"""Database access: the base class of models, the session with its one connection, and units of work.

`db.session` uses one connection of the pool. Outside a unit of work, the connection is in autocommit mode: each
statement is its own transaction. Reads need no more. Inside a unit of work, the connection is in one transaction, which
`unit_of_work` commits at its end or rolls back. Services flush, but never commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, TypeVar, cast

import flask_sqlalchemy.session
import sqlalchemy as sa
from flask import current_app
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from psycopg2 import errors as pg
from sqlalchemy import orm
from sqlalchemy.exc import IntegrityError

from app.core.database.personal import Declaration
from app.core.errors import AppError, NotFound
from config import ROOT

logger = logging.getLogger(__name__)

#: Column values by name, as a schema passes them to a service.
Fields = Mapping[str, Any]
AnySelect = sa.Select[*tuple[Any, ...]]
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


def trigrams(name: str, *columns: str, where: sa.TextClause | None = None) -> sa.Index:
    """Return a trigram index of these columns, for substring searches."""
    ops = dict.fromkeys(columns, "gin_trgm_ops")
    return sa.Index(name, *columns, postgresql_using="gin", postgresql_ops=ops, postgresql_where=where)


class Created:
    """Base class that adds the creation time of a row."""

    created_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now())


class Timestamps(Created):
    """Base class that adds the creation time and the time of the last change of a row."""

    updated_at: orm.Mapped[datetime] = orm.mapped_column(server_default=sa.func.now(), onupdate=sa.func.now())


class Session(flask_sqlalchemy.session.Session):
    """A session in autocommit mode outside units of work. Both modes use the same pool of connections."""

    def get_bind(self, *_: object, **__: object) -> sa.Engine | sa.Connection:
        return db.engine if _open.get() else current_app.extensions["autocommit"]


db = SQLAlchemy(
    model_class=Base, session_options={"class_": Session, "expire_on_commit": False}, disable_autonaming=True
)
migrate = Migrate(directory=str(ROOT / "migrations"))


@dataclass
class UnitOfWork:
    """Callbacks to run after a commit or a rollback of a unit of work."""

    commit: list[Callable[[], object]] = field(default_factory=list)
    rollback: list[Callable[[], object]] = field(default_factory=list)


_open: ContextVar[UnitOfWork | None] = ContextVar("unit_of_work", default=None)


@contextmanager
def unit_of_work() -> Iterator[None]:
    """Commit the changes of the block, or roll them back if the block fails. Then run the callbacks for this outcome.

    An error in a callback is only logged, because the data is already saved. A periodic job later repeats what the
    callback does. Raise RuntimeError if a unit is already open, so that a service cannot commit by mistake.
    """
    if _open.get() is not None:
        raise RuntimeError("a unit of work is open already")
    if db.session.registry.has():
        # Release the connection of earlier reads. The unit begins with an empty session, and reads their rows again.
        db.session.commit()
        db.session.remove()
    unit = UnitOfWork()
    token = _open.set(unit)
    due = unit.rollback
    try:
        yield
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


def _open_unit(function: str) -> UnitOfWork:
    unit = _open.get()
    if unit is None:
        raise RuntimeError(f"{function}() outside a unit of work")
    return unit


def records(statement: sa.Executable, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a statement as dicts by column name. For long lists, this is faster than `mappings()`."""
    result = db.session.execute(statement, values)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]


def repeat_in_batches(statement: sa.Update | sa.Delete, size: int) -> int:
    """Execute a statement that changes at most `size` rows, until it changes fewer. Return the number of all rows.

    Each execution is one small transaction. The rows of the session do not change.
    """
    total = 0
    while True:
        with unit_of_work():
            result = db.session.execute(statement, execution_options={"synchronize_session": False})
        count = int(result.rowcount)  # type: ignore[attr-defined]  # such a result counts rows
        total += count
        if count < size:
            return total


@contextmanager
def own_connection() -> Iterator[sa.Connection]:
    """Open a read-only connection outside the pools and close it after the block.

    Use it for long reads such as exports, because they would occupy a connection of a pool for too long. Also use it
    for locks that are held during such a read. The block may end in another thread or outside any application context.
    """
    engine: sa.Engine = current_app.extensions["streams"]
    with engine.connect() as connection:
        yield connection


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
