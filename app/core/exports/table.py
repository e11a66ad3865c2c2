"""What an export is made of: columns of a statement, each with the kind of value that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.database.session import AnySelect
from app.core.lib.formulas import STARTS


class Kind(StrEnum):
    TEXT = "text"
    #: Text that its rules keep from beginning like a formula: a username, a province.
    NAME = "name"
    NUMBER = "number"
    TIME = "time"
    DAY = "day"
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """`name` heads it in files for machines, `label` where people read it; `share` is its part of the whole width."""

    name: str
    value: sa.ColumnElement[Any]
    kind: Kind = Kind.TEXT
    label: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Table:
    """The columns, and the statement (of any columns) whose rows they are of."""

    columns: tuple[Column, ...]
    source: AnySelect

    @property
    def statement(self) -> AnySelect:
        return self.source.with_only_columns(*(column.value.label(column.name) for column in self.columns))


def harmless(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """The text in SQL, behind an apostrophe when its beginning could run as a formula."""
    first = sa.func.ascii(column)
    # Most begin with a letter or a digit, and a million rows have many: those cost one comparison, or two.
    return sa.case(
        (first > max(map(ord, STARTS)), column),
        (first.between(ord("0"), ord("9")), column),
        (first.in_([ord(character) for character in STARTS]), sa.literal("'").concat(column)),
        else_=column,
    )
