"""Definition of an export table: its columns and its SQL statement."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.database.session import AnySelect
from app.core.lib.csv_injection import STARTS


class ColumnType(StrEnum):
    TEXT = "text"
    #: Text that never starts like a formula, because validation rejects a text that does. Examples: a username, a
    #: province.
    NAME = "name"
    NUMBER = "number"
    TIME = "time"
    DAY = "day"
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """A column. `name` is its heading in CSV, `label` its heading in XLSX and PDF. `share` is its relative width."""

    name: str
    value: sa.ColumnElement[Any]
    kind: ColumnType = ColumnType.TEXT
    label: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Table:
    """An export table: its columns, and the statement that selects its rows."""

    columns: tuple[Column, ...]
    source: AnySelect

    @property
    def statement(self) -> AnySelect:
        return self.source.with_only_columns(*(column.value.label(column.name) for column in self.columns))


def escape_formula_sql(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return an SQL expression for the text, with an apostrophe if a spreadsheet could run the text as a formula."""
    first = sa.func.ascii(column)
    # Check for letters and digits before all other characters, so that most rows need only one or two comparisons.
    return sa.case(
        (first > max(map(ord, STARTS)), column),
        (first.between(ord("0"), ord("9")), column),
        (first.in_([ord(character) for character in STARTS]), sa.literal("'").concat(column)),
        else_=column,
    )
