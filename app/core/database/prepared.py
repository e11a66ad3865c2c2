"""Prepared statements for the few queries that most requests run. They bypass slow parts of SQLAlchemy."""

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
    """An SQL statement that is compiled once per process and prepared once per connection.

    This saves time. For a join, PostgreSQL spends twice as much time on the plan as on the execution. To execute a
    statement, SQLAlchemy needs twice as much CPU time as this class. A transaction pooler keeps no prepared statements.
    With a pooler, the statement is therefore sent as text.
    """

    _numbers = itertools.count(1)

    def __init__(self, statement: sa.ClauseElement, *, plans_by_values: bool = False) -> None:
        """Compile the statement.

        If the best plan depends on the values, set `plans_by_values`. The statement is then sent as text.
        """
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
            self._text = numbered  # without values, psycopg2 does not replace `%%` by `%`

    def rows(self, connection: sa.Connection, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Return all rows for these parameter values. Values that the statement does not use are ignored."""
        raw: Any = connection.connection
        try:
            with raw.cursor() as cursor:
                cursor.execute(self._ready(connection, cursor), values or None)
                rows: list[tuple[object, ...]] = cursor.fetchall()
                return rows
        except psycopg2.Error as error:
            without_detail(error)
            # A migration can make a prepared plan invalid. Drop this connection. The next connection prepares the
            # statement again.
            lost = bool(raw.dbapi_connection.closed) or isinstance(error, pg.FeatureNotSupported)
            if lost:
                connection.invalidate(error)
            wrapped: Any = sa.exc.DBAPIError.instance(
                self._text, None, error, psycopg2.Error, connection_invalidated=lost, dialect=connection.dialect
            )
            raise wrapped from error

    def records(self, connection: sa.Connection, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """Return all rows of a SELECT as dicts by column name."""
        return [dict(zip(self._names, row, strict=True)) for row in self.rows(connection, values)]

    def _ready(self, connection: sa.Connection, cursor: Any) -> str:
        """Return the SQL text to send on this connection. If necessary, prepare the statement first."""
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
    """Return a parameter whose value is hidden from PostgreSQL's planner. PostgreSQL then keeps one plan.

    Otherwise PostgreSQL makes a new plan for each value that seems to match few rows. For small statements, the
    planning took 320 of 400 microseconds.
    """
    value = sa.select(sa.bindparam(name, type_=type_)).scalar_subquery()
    # Without the cast, ANY would treat the subquery as a list of rows.
    return sa.cast(value, type_) if isinstance(type_, postgresql.ARRAY) else value


def without_detail(error: BaseException | None) -> None:
    """Keep only the first line of a database error, because its DETAIL and CONTEXT lines quote values.

    The name of a violated constraint is still available in `diag`.
    """
    if isinstance(error, psycopg2.Error) and error.args:
        error.args = (str(error.args[0]).partition("\n")[0],)


def as_text(moment: object) -> sa.ColumnElement[str]:
    """Return a time column cast to text. To create a `datetime` takes longer than to read all other columns."""
    return sa.cast(moment, sa.Text)


def rfc3339(text: str) -> str:
    """Return `2026-03-02T07:00:00Z` for `2026-03-02 07:00:00.123+00`. The database sessions of the service use UTC."""
    return f"{text[:10]}T{text[11:19]}Z"


PARAMETER = re.compile(r"%\((\w+)\)s")


def _compiled(statement: sa.ClauseElement) -> Any:
    return statement.compile(dialect=psycopg2_dialect())  # type: ignore[no-untyped-call]  # SQLAlchemy has no types here


def _with_constants(compiled: Any) -> str:
    """Return the SQL text. Write constant values into the text in place of their parameters."""
    text = str(compiled)
    for name, bound in compiled.binds.items():
        if not bound.required:
            text = text.replace(f"%({name})s", compiled.render_literal_value(bound.value, bound.type))
    return text


def _type_of(compiled: Any, name: str) -> str:
    kind = compiled.binds[name].type
    return "unknown" if isinstance(kind, sa.types.NullType) else kind.compile(dialect=compiled.dialect)
