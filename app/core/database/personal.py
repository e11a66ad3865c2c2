"""What the rows of a table are to people: whose they are, what of them a person's export holds, what erasure does.

A table says so beside its model, as `__personal__ = Personal(...)`; one without a class says it in
`info={"personal": Personal(...)}`. A test holds that every table says it that has a column which can name somebody.
Export and erasure go by it: a table that is added is exported and erased without a line of theirs, but for its words in
`app.personal_data.words` and the function of a `Custom`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

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
    """A function does it, for the reason in `why`: `ERASERS` in `app.personal_data.erasers` names it, or `EXPORTS` in
    `app.personal_data.archive`.
    """

    why: str


@dataclass(frozen=True, kw_only=True)
class Personal:
    """Whose rows they are, and what becomes of them. A row is of everybody whom one of the named columns names."""

    #: Columns with a user's id; in `users` itself it is `id`.
    of: tuple[str, ...] = ()
    #: Columns with the id of somebody whose row it is not: their erasure makes it null.
    mentions: tuple[str, ...] = ()
    #: Columns with a phone number in E.164.
    phones: tuple[str, ...] = ()
    #: Columns with a text such as `user:12`.
    subjects: tuple[str, ...] = ()
    export: Rows | Nothing | Custom
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


@dataclass(frozen=True)
class Person:
    """Whose rows are looked for."""

    id: int
    #: In E.164.
    phones: tuple[str, ...] = ()
    #: Since when the numbers are theirs: what went to one before was somebody else's. None: also what is older.
    phones_since: datetime | None = None


#: When a row was made, by the first of these columns that its table has.
_MADE_AT = ("created_at", "received_at", "at")


def is_of(table: sa.Table, declaration: Personal, person: Person) -> sa.ColumnElement[bool]:
    """Whether a row is this person's. By a number alone it is only where it names nobody."""
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
