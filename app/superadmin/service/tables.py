"""Table browser: all tables of the catalogue, with secrets masked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from app.core.database.personal import Personal, declaration_of
from app.core.database.session import Base, db
from app.core.errors import NotFound
from app.core.exports import csv
from app.core.exports.streaming import MIMETYPES, Download, start_eagerly
from app.core.exports.table import Column, ColumnType, Table
from app.identity import access_log, audit
from app.identity.sessions import Caller
from app.superadmin.runner.values import to_json

MASK = "***"

#: Columns masked in every table. Columns that end in `_hash` are masked too.
SECRET = frozenset({"nik", "password", "p256dh", "auth"})
#: Masked columns, each with the name of its table. These columns contain secret links, texts of people, token hashes or
#: second factors.
SECRET_OF = frozenset(
    {
        ("deliveries", "payload"),
        ("deliveries", "said"),
        ("deliveries", "sealed"),
        ("inbound", "text"),
        ("inbound", "payload"),
        ("occurrences", "shared_links"),
        ("second_factors", "secret"),
        ("second_factors", "recovery_hashes"),
    }
)

#: Maximum characters of a cell on a page. Longer texts are cut, but not in the export.
MAX_CELL = 10_000

#: If a table has at least this many estimated rows, the total is the estimate, because counting takes too long.
MAX_COUNTED = 5_000_000

#: Type OIDs of numbers. In the export, an apostrophe never precedes a negative number.
NUMBERS = (20, 21, 23, 26, 700, 701, 1700)

_TABLES = sa.text(
    """
    SELECT oid, relname AS name, greatest(reltuples, 0)::bigint AS rows_estimate, pg_total_relation_size(oid) AS bytes
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'm', 'v')
    ORDER BY relname
    """
)

_COLUMNS = sa.text(
    """
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.atttypid::bigint AS type_oid,
           coalesce(array_position(k.conkey, a.attnum), 0) AS key_position
    FROM pg_attribute a LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'p'
    WHERE a.attrelid = :oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
    """
)


class TableSize(TypedDict):
    name: str
    rows_estimate: int
    bytes: int


class TableColumn(TypedDict):
    name: str
    type: str


class TablePage(TypedDict):
    table: str
    columns: list[TableColumn]
    rows: list[dict[str, object]]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True)
class CatalogueColumn:
    name: str
    type: str
    type_oid: int
    #: Position in the primary key, counted from 1. 0 for other columns.
    key_position: int


@dataclass(frozen=True)
class CatalogueTable:
    """A table of the catalogue. Names of tables and columns come only from the catalogue, never from the request."""

    name: str
    rows_estimate: int
    columns: list[CatalogueColumn]

    @property
    def selectable(self) -> sa.TableClause:
        return sa.table(quoted_name(self.name, quote=True), schema="public")

    def value(self, column: CatalogueColumn) -> sa.ColumnElement[object]:
        """Return an SQL expression for the column. In a secret column, the mask replaces each non-null value."""
        plain: sa.ColumnElement[object] = sa.column(quoted_name(column.name, quote=True))
        return sa.case((plain.is_not(None), MASK)) if self.is_secret(column) else plain

    def is_secret(self, column: CatalogueColumn) -> bool:
        name = column.name
        return name in SECRET or name.endswith("_hash") or (self.name, name) in SECRET_OF

    @property
    def order(self) -> list[sa.ColumnElement[object]]:
        keys = sorted((column for column in self.columns if column.key_position), key=lambda key: key.key_position)
        return [sa.column(quoted_name(column.name, quote=True)) for column in keys]


def list_all(_by: Caller, *, detail: bool) -> list[str] | list[TableSize]:
    """Return the names of all tables, sorted. With `detail`, add estimated rows and bytes on disk."""
    if not detail:
        return [row.name for row in _tables()]
    sizes: list[TableSize] = [
        {"name": row.name, "rows_estimate": row.rows_estimate, "bytes": row.bytes} for row in _tables()
    ]
    return sizes


def get(name: str, by: Caller, *, limit: int, offset: int) -> TablePage:
    """Return a page of rows of a table, sorted by the primary key if the table has one."""
    table = _table(name)
    texts = [sa.func.left(sa.cast(table.value(column), sa.Text), MAX_CELL) for column in table.columns]
    query = sa.select(*texts).select_from(table.selectable).order_by(*table.order).limit(limit).offset(offset)
    rows = db.session.execute(query).all()
    total = table.rows_estimate
    if total < MAX_COUNTED:
        total = db.session.scalar(sa.select(sa.func.count()).select_from(table.selectable)) or 0
    _record_access(table, by, access_log.AccessAction.DATABASE_READ)
    return {
        "table": table.name,
        "columns": [{"name": column.name, "type": column.type} for column in table.columns],
        "rows": [_record(table, row) for row in rows],
        "total": total,
        "limit": limit,
        "offset": offset,
    }


def export(name: str, by: Caller) -> Download:
    """Stream the whole table as CSV while the database reads it."""
    table = _table(name)
    columns = []
    for column in table.columns:
        kind = ColumnType.NUMBER if column.type_oid in NUMBERS else ColumnType.TEXT
        columns.append(Column(column.name, sa.cast(table.value(column), sa.Text), kind))
    source = sa.select(sa.text("1")).select_from(table.selectable).order_by(*table.order)
    chunks = start_eagerly(csv.stream(Table(tuple(columns), source)))
    audit.record(by, audit.AuditAction.EXPORT, f"table:{table.name}", format="csv")
    _record_access(table, by, access_log.AccessAction.EXPORT)
    return Download(f"{table.name}.csv", MIMETYPES["csv"], chunks)


def _record_access(table: CatalogueTable, by: Caller, action: access_log.AccessAction) -> None:
    """Record the access in every user's access log, if the table has personal data or is unknown to the service."""
    known = Base.metadata.tables.get(table.name)
    if known is None or isinstance(declaration_of(known), Personal):
        access_log.record_many(by, action, access_log.Covers.EVERYBODY)


def _record(table: CatalogueTable, row: Iterable[str | None]) -> dict[str, object]:
    return {
        column.name: text if table.is_secret(column) else to_json(text, column.type_oid)
        for column, text in zip(table.columns, row, strict=True)
    }


def _tables() -> Sequence[sa.Row[int, str, int, int]]:
    return db.session.execute(_TABLES).all()


def _table(name: str) -> CatalogueTable:
    row = next((row for row in _tables() if row.name == name), None)
    if row is None:
        raise NotFound("Tabel tidak ditemukan.", code="unknown_table")
    columns = [CatalogueColumn(*column) for column in db.session.execute(_COLUMNS, {"oid": row.oid})]
    return CatalogueTable(row.name, row.rows_estimate, columns)
