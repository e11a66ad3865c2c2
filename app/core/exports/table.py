"""What an export is made of: columns of a statement, each with the kind of value that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa


class Kind(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """`name` heads it in files for machines, `label` on paper; `share` is its part of a page's width."""

    name: str
    value: sa.ColumnElement[Any]
    kind: Kind = Kind.TEXT
    label: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Table:
    """The columns, and the statement (of any columns) whose rows they are of."""

    columns: tuple[Column, ...]
    source: sa.Select[*tuple[Any, ...]]

    @property
    def statement(self) -> sa.Select[*tuple[Any, ...]]:
        return self.source.with_only_columns(*(column.value.label(column.name) for column in self.columns))


#: A text that begins so could run as a formula in a spreadsheet: tab, carriage return, and these.
DANGEROUS = ("\t", "\r", "+", "-", "=", "@")


def is_dangerous(text: str) -> bool:
    return text.startswith(DANGEROUS)


def harmless(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """The text in SQL, behind an apostrophe when it could run as a formula. `ascii` is of the first character."""
    codes = [ord(character) for character in DANGEROUS]
    return sa.case((sa.func.ascii(column).in_(codes), sa.literal("'").concat(column)), else_=column)
