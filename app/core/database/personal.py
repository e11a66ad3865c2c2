"""What the rows of a table are to people: whose they are, what of them a person's export holds, what erasure does.

A table says so beside its model, as `__personal__ = Personal(...)`; one without a class says it in
`info={"personal": Personal(...)}`. A test holds that every table says it that has a column which can name somebody.
Export and erasure read nothing else, so a table that is added is exported and erased without a line of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa


@dataclass(frozen=True)
class Rows:
    """The export holds the person's rows, but no column of `without`: hashes and keys, and what is somebody else's."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """The export holds nothing of it, and `why`."""

    why: str


@dataclass(frozen=True)
class Delete:
    """The rows go."""


@dataclass(frozen=True)
class Detach:
    """The rows stay, for others: what names the person becomes null, and so do the columns that it `clears`."""

    clears: tuple[str, ...] = ()


@dataclass(frozen=True)
class Custom:
    """A function in `app.wiring.ERASERS` does it, and `why` it takes more than a DELETE."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Personal:
    """Whose rows they are, and what becomes of them. A row is of everybody whom one of the named columns names."""

    #: Columns with a user's id; in `users` itself it is `id`.
    of: tuple[str, ...] = ()
    #: Columns with a phone number in E.164.
    phones: tuple[str, ...] = ()
    #: Columns with a text such as `user:12`.
    subjects: tuple[str, ...] = ()
    export: Rows | Nothing
    erase: Delete | Detach | Custom


@dataclass(frozen=True)
class Impersonal:
    """The table holds nothing of anybody, although it has a column that could, and `why`."""

    why: str


#: What `__personal__` may be.
Declaration = Personal | Impersonal


def declaration_of(table: sa.Table) -> Declaration | None:
    """What the table says; None when it says nothing."""
    declaration: Declaration | None = table.info.get("personal")
    return declaration


def personal_tables(metadata: sa.MetaData) -> Iterator[tuple[sa.Table, Personal]]:
    """The tables with rows of people, each before those that it refers to: in this order rows can be deleted."""
    for table in reversed(metadata.sorted_tables):
        declaration = declaration_of(table)
        if isinstance(declaration, Personal):
            yield table, declaration
