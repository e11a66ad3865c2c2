"""Hot statements: the few that most requests make, past the parts of SQLAlchemy that they have no use for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import psycopg2
import sqlalchemy as sa
from psycopg2 import errors as pg
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.psycopg2 import dialect as psycopg2_dialect

from app.core.settings import settings


class PreparedStatement:
    """A statement compiled once and prepared once a connection, whose rows are psycopg2's plain tuples.

    Planning a join costs PostgreSQL twice what running it does, and SQLAlchemy's own way costs the process twice what
    this does. Errors are SQLAlchemy's, and a dead connection leaves the pool. Behind a transaction pooler nothing stays
    prepared, so there the statement goes out as text.
    """

    _numbers = itertools.count(1)

    def __init__(self, statement: sa.ClauseElement, *, plans_by_values: bool = False) -> None:
        """With `plans_by_values` it goes out as text too, for the best plan depends on the values."""
        self._names = statement.selected_columns.keys() if isinstance(statement, sa.SelectBase) else ()
        compiled = _compiled(statement)
        self._text = _with_constants(compiled)
        names = list(dict.fromkeys(PARAMETER.findall(self._text)))
        self._name = f"hot_{next(self._numbers)}"
        self._plans_by_values = plans_by_values
        numbered = PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", self._text).replace("%%", "%")
        types = ", ".join(_type_of(compiled, name) for name in names)
        self._prepare = f"PREPARE {self._name} {f'({types})' if types else ''} AS {numbered}"
        places = ", ".join(f"%({name})s" for name in names)
        self._execute = f"EXECUTE {self._name} {f'({places})' if places else ''}"
        if not names:
            self._text = numbered  # psycopg2 leaves a text without values as it is

    def rows(self, connection: sa.Connection, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """All rows, with `values` for the statement's parameters; more than it has do no harm."""
        raw: Any = connection.connection
        try:
            with raw.cursor() as cursor:
                cursor.execute(self._ready(connection, cursor), values or None)
                rows: list[tuple[object, ...]] = cursor.fetchall()
                return rows
        except psycopg2.Error as error:
            without_detail(error)
            # A plan that a migration has outdated dies with its connection; the next one makes its own.
            lost = bool(raw.dbapi_connection.closed) or isinstance(error, pg.FeatureNotSupported)
            if lost:
                connection.invalidate(error)
            wrapped: Any = sa.exc.DBAPIError.instance(
                self._text, None, error, psycopg2.Error, connection_invalidated=lost, dialect=connection.dialect
            )
            raise wrapped from error

    def records(self, connection: sa.Connection, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """All rows of a SELECT as dicts, by the names of its columns."""
        return [dict(zip(self._names, row, strict=True)) for row in self.rows(connection, values)]

    def _ready(self, connection: sa.Connection, cursor: Any) -> str:
        """What to send on this connection, where the statement is prepared when it comes there first."""
        if self._plans_by_values:
            return self._text
        prepared: set[str] = connection.info.setdefault("prepared", set())
        if self._name not in prepared:
            if settings.database_pooler_url:
                return self._text
            cursor.execute(self._prepare)
            prepared.add(self._name)
        return self._execute


def generic(name: str, type_: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    """Return a parameter whose value the planner does not see, so that PostgreSQL keeps one plan of the statement.

    PostgreSQL plans anew for each value that promises fewer rows than a general plan. For small statements that takes
    longer than to run them: 320 of 400 microseconds, measured.
    """
    value = sa.select(sa.bindparam(name, type_=type_)).scalar_subquery()
    # Without the cast ANY would take the subselect for a list of rows.
    return sa.cast(value, type_) if isinstance(type_, postgresql.ARRAY) else value


def without_detail(error: BaseException | None) -> None:
    """Leave an error its first line: DETAIL and CONTEXT quote values. `diag` still knows the constraint."""
    if isinstance(error, psycopg2.Error) and error.args:
        error.args = (str(error.args[0]).partition("\n")[0],)


def as_text(moment: object) -> sa.ColumnElement[str]:
    """A column of moments as PostgreSQL writes them: a `datetime` of each would cost more than the rest of its row."""
    return sa.cast(moment, sa.Text)


def rfc3339(text: str) -> str:
    """`2026-03-02T07:00:00Z` from `2026-03-02 07:00:00.123+00`; the sessions of our connections are in UTC."""
    return f"{text[:10]}T{text[11:19]}Z"


PARAMETER = re.compile(r"%\((\w+)\)s")


def _compiled(statement: sa.ClauseElement) -> Any:
    return statement.compile(dialect=psycopg2_dialect())  # type: ignore[no-untyped-call]  # it has no types


def _with_constants(compiled: Any) -> str:
    """The statement's text with every value that it brings along written into it."""
    text = str(compiled)
    for name, bound in compiled.binds.items():
        if not bound.required:
            text = text.replace(f"%({name})s", compiled.render_literal_value(bound.value, bound.type))
    return text


def _type_of(compiled: Any, name: str) -> str:
    kind = compiled.binds[name].type
    return "unknown" if isinstance(kind, sa.types.NullType) else kind.compile(dialect=compiled.dialect)
