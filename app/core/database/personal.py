"""Personal-data declarations of tables: the owners of a row, the content of the export, and the effect of erasure.

A model declares them as `__personal__ = Personal(...)`, a table without a class as `info={"personal": Personal(...)}`.
A test requires a declaration for every table with a column that can identify a person.
Export and erasure read the declarations, so a new table usually needs no code there. It needs its labels in
`app.personal_data.table_labels`, and a function for each `Custom`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa


@dataclass(frozen=True)
class Rows:
    """Export of the person's rows, except the columns in `without`: hashes, keys and data of other people."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """Exclusion of the table from the export, for the reason in `why`."""

    why: str


@dataclass(frozen=True)
class Delete:
    """Deletion of the rows."""


@dataclass(frozen=True)
class Detach:
    """Erasure that keeps the rows for other people.

    The columns that identify the person and those in `clears` become null.
    """

    clears: tuple[str, ...] = ()


@dataclass(frozen=True)
class Custom:
    """A custom function instead of a standard action, for the reason in `why`.

    `ERASERS` in `app.personal_data.erasers` names the function for an erasure, `EXPORTS` in `app.personal_data.archive`
    the function for an export.
    """

    why: str


@dataclass(frozen=True, kw_only=True)
class Personal:
    """Declaration of a table with personal data.

    A row belongs to every person whom one of its owner columns identifies.
    """

    #: Owner columns with a user's id. In `users` itself: `id`.
    of: tuple[str, ...] = ()
    #: Columns with the id of a user who does not own the row. Their erasure sets the column to null.
    mentions: tuple[str, ...] = ()
    #: Owner columns with a phone number in E.164.
    phones: tuple[str, ...] = ()
    #: Owner columns with a text such as `user:12`.
    subjects: tuple[str, ...] = ()
    export: Rows | Nothing | Custom
    erase: Delete | Detach | Custom


@dataclass(frozen=True)
class Impersonal:
    """Declaration of a table without personal data, although a column could hold some. `why` gives the reason."""

    why: str


Declaration = Personal | Impersonal


def declaration_of(table: sa.Table) -> Declaration | None:
    """Return the table's declaration, or None if it has none."""
    declaration: Declaration | None = table.info.get("personal")
    return declaration


def personal_tables(metadata: sa.MetaData) -> Iterator[tuple[sa.Table, Personal]]:
    """Yield the tables with personal data, each before the tables that it references: the order for deletions."""
    for table in reversed(metadata.sorted_tables):
        declaration = declaration_of(table)
        if isinstance(declaration, Personal):
            yield table, declaration


@dataclass(frozen=True)
class DataSubject:
    """A person, as the owner of the rows to select."""

    id: int
    #: Phone numbers in E.164.
    phones: tuple[str, ...] = ()
    #: Time since which the person has these numbers. Older messages went to a previous owner. None: rows of any age
    #: match.
    phones_since: datetime | None = None


#: Columns with the creation time of a row. The first one that the table has is used.
_MADE_AT = ("created_at", "received_at", "at")


def is_of(table: sa.Table, declaration: Personal, person: DataSubject) -> sa.ColumnElement[bool]:
    """Return the SQL condition for the person's rows. A phone number matches only rows without a user id."""
    owners = [table.c[name] for name in declaration.of]
    conditions: list[sa.ColumnElement[bool]] = [owner == person.id for owner in owners]
    conditions += [table.c[name] == f"user:{person.id}" for name in declaration.subjects]
    if person.phones:
        named: list[sa.ColumnElement[bool]] = [owner.is_(None) for owner in owners]
        made_at = next((table.c[name] for name in _MADE_AT if name in table.c), None)
        if made_at is not None and person.phones_since is not None:
            named.append(made_at >= person.phones_since)
        conditions += [sa.and_(table.c[name].in_(person.phones), *named) for name in declaration.phones]
    return sa.or_(sa.false(), *conditions)
