"""Hot statements: the few that most requests make, past the parts of SQLAlchemy that they have no use for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping
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


class Ids:
    """An array of ids as a parameter of prepared statements, whose plan PostgreSQL keeps.

    PostgreSQL takes an array that is one parameter for ten elements. If there are fewer, it plans the statement anew
    each time, which takes longer than to run it. So each element is a parameter, and a statement holds for one size.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def array(self, size: int) -> sa.ColumnElement[Any]:
        """Return the array as a part of a statement."""
        elements = [sa.bindparam(f"{self._name}_{n}", type_=sa.BigInteger) for n in range(size)]
        return sa.cast(postgresql.array(elements), postgresql.ARRAY(sa.BigInteger))

    @staticmethod
    def size(ids: Collection[int]) -> int:
        """Return the size of the statement to use: a power of two, so that there are few, and 0 for no ids."""
        return 1 << (len(ids) - 1).bit_length() if ids else 0

    def values(self, ids: Collection[int]) -> dict[str, int]:
        """Return the values of the parameters. The ids are repeated up to `size`."""
        return {f"{self._name}_{n}": id_ for n, id_ in zip(range(self.size(ids)), itertools.cycle(ids), strict=False)}


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
