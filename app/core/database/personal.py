"""Declarations of the personal data in tables.

A declaration names the owners of a row. It defines what a data export contains and what an erasure does. Models declare
`__personal__ = Personal(...)`, and other tables `info={"personal": Personal(...)}`. A test requires a declaration for
every table with a column that can identify a person.

A new table also needs labels in `app.personal_data.table_labels`. Each `Custom` in its declaration also needs
a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from datetime import datetime

import sqlalchemy as sa

#: `info` of a column whose values no administrator may see: hashes, NIK, tokens, keys, and texts of messages.
SECRET = {"secret": True}


@dataclass(frozen=True)
class Rows:
    """Export of the person's rows. The columns in `without` are left out: hashes, keys and data of other people."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """Exclusion of a table from the data export. `why` gives the reason."""

    why: str


@dataclass(frozen=True)
class Delete:
    """Erasure that deletes the rows."""


@dataclass(frozen=True)
class Detach:
    """Erasure that keeps the rows, because other people still need them.

    The columns that identify the person and those in `clears` become null.
    """

    clears: tuple[str, ...] = ()


@dataclass(frozen=True)
class Custom:
    """A custom function instead of a standard export or erasure. `why` gives the reason.

    Functions for an erasure are in `ERASERS` in `app.personal_data.erasers`. Functions for an export are in `EXPORTS`
    in `app.personal_data.archive`.
    """

    why: str


@dataclass(frozen=True, kw_only=True)
class Personal:
    """Declaration of a table with personal data.

    A person owns a row if one of its owner columns identifies the person.
    """

    #: Owner columns with the id of a user. For the table `users`: `id`.
    of: tuple[str, ...] = ()
    #: Columns with the id of a user who does not own the row. The erasure of this user sets the column to null.
    mentions: tuple[str, ...] = ()
    #: Owner columns with a phone number in E.164 format.
    phones: tuple[str, ...] = ()
    #: Owner columns that contain a text such as `user:12`, where 12 is the user's id.
    subjects: tuple[str, ...] = ()
    export: Rows | Nothing | Custom
    erase: Delete | Detach | Custom


@dataclass(frozen=True)
class Impersonal:
    """Declaration of a table whose columns could contain personal data, but do not. `why` gives the reason."""

    why: str


Declaration = Personal | Impersonal


def declaration_of(table: sa.Table) -> Declaration | None:
    """Return the personal-data declaration of the table, or None if it has none."""
    declaration: Declaration | None = table.info.get("personal")
    return declaration


def personal_tables(metadata: sa.MetaData) -> Iterator[tuple[sa.Table, Personal]]:
    """Yield the tables with personal data in the order for deletions: each before the tables that it references."""
    for table in reversed(metadata.sorted_tables):
        declaration = declaration_of(table)
        if isinstance(declaration, Personal):
            yield table, declaration


@dataclass(frozen=True)
class DataSubject:
    """A person whose rows are exported or erased."""

    id: int
    #: Ids of the people whose accounts this person manages. Their rows count as the person's rows.
    dependents: tuple[int, ...] = ()
    _: KW_ONLY
    #: Phone numbers in E.164 format.
    phones: tuple[str, ...] = ()
    #: Time when the person got these phone numbers. Older rows with these numbers belong to a previous owner. If None,
    #: rows of any age match.
    phones_since: datetime | None = None


#: Columns that may contain the creation time of a row. The first one that exists in the table is used.
_MADE_AT = ("created_at", "received_at", "at")


def is_of(table: sa.Table, declaration: Personal, person: DataSubject) -> sa.ColumnElement[bool]:
    """Return the SQL condition for the person's rows. A phone number matches only rows that have no user id."""
    owners = [table.c[name] for name in declaration.of]
    ids = (person.id, *person.dependents)
    conditions: list[sa.ColumnElement[bool]] = [owner.in_(ids) for owner in owners]
    conditions += [table.c[name].in_([f"user:{id_}" for id_ in ids]) for name in declaration.subjects]
    if person.phones:
        named: list[sa.ColumnElement[bool]] = [owner.is_(None) for owner in owners]
        made_at = next((table.c[name] for name in _MADE_AT if name in table.c), None)
        if made_at is not None and person.phones_since is not None:
            named.append(made_at >= person.phones_since)
        conditions += [sa.and_(table.c[name].in_(person.phones), *named) for name in declaration.phones]
    return sa.or_(sa.false(), *conditions)
