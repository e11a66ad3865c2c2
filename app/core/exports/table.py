"""Definition of an export: its columns, its SQL statement, and the parts of a PDF report besides its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.database.session import AnySelect, own_connection
from app.core.exports.charts import Chart

ROWS_AT_ONCE = 1000

ReportRows = Sequence[Sequence[Any]]


class ColumnType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """A column. `name` is its heading in CSV, `label` its heading in XLSX and PDF. `share` is its relative width.

    `value` is its SQL expression. A report whose rows are not read from a `Table` has none.
    """

    name: str
    value: sa.ColumnElement[Any] = field(default_factory=sa.null)
    kind: ColumnType = ColumnType.TEXT
    label: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Table:
    """An export table: its columns, and the statement that selects its rows."""

    columns: tuple[Column, ...]
    source: AnySelect

    @contextmanager
    def rows(
        self, cell: Callable[[Column], sa.ColumnElement[Any]] = lambda column: column.value
    ) -> Iterator[sa.CursorResult[Any]]:
        """Read the rows with a server-side cursor, so that memory use is constant. `cell` may change the values."""
        statement = self.source.with_only_columns(*(cell(column).label(column.name) for column in self.columns))
        with own_connection() as connection:
            yield connection.execute(statement, execution_options={"yield_per": ROWS_AT_ONCE})

    def count(self) -> int:
        counted = sa.select(sa.func.count()).select_from(self.source.order_by(None).subquery())
        with own_connection() as connection:
            return connection.execute(counted).scalar_one()


@dataclass(frozen=True)
class Paper:
    """The parts of a PDF report besides its rows. `chart` is a function that makes the chart from the rows."""

    title: str
    start: date
    end: date
    chart: Callable[[ReportRows, date, date], Chart] | None = None
    landscape: bool = True
    #: Sentences above the chart and the table.
    remarks: Sequence[str] = ()
