"""The table browser: whatever is in the catalogue, secrets masked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from app.core.database.session import autocommit
from app.core.errors import NotFound
from app.core.exports import csv
from app.core.exports.streaming import Download, begun
from app.core.exports.table import Column, Kind, Table
from app.identity import audit
from app.identity.sessions import Caller
from app.superadmin.runner.values import to_json

MASK = "***"

#: Columns that nobody reads here, in whatever table; and those that end in `_hash`.
SECRET = frozenset({"nik", "password", "p256dh", "auth"})
#: Their rows hold links that let somebody in.
SECRET_OF = frozenset({("deliveries", "payload")})

#: Longer texts are cut on the page; the export has them whole.
MAX_CELL = 10_000

#: Above this many rows the planner's estimate is told in place of a count.
MAX_COUNTED = 5_000_000

KINDS = {**dict.fromkeys((20, 21, 23, 26, 700, 701, 1700), Kind.NUMBER), 16: Kind.FLAG, 1184: Kind.TIME}

_TABLES = sa.text(
    """
    SELECT c.oid, c.relname AS name, greatest(c.reltuples, 0)::bigint AS rows_estimate,
           pg_total_relation_size(c.oid) AS bytes
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'm', 'v')
    ORDER BY c.relname
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


@dataclass(frozen=True)
class Found:
    """A table as the catalogue knows it; its name and those of its columns come from there alone."""

    name: str
    rows_estimate: int
    columns: list[Any]

    @property
    def selectable(self) -> sa.TableClause:
        return sa.table(quoted_name(self.name, quote=True), schema="public")

    def value(self, column: Any) -> sa.ColumnElement[Any]:
        """The column, or the mask where something is."""
        plain: sa.ColumnElement[Any] = sa.column(quoted_name(column.name, quote=True))
        return sa.case((plain.is_not(None), MASK)) if self.is_secret(column.name) else plain

    def is_secret(self, name: str) -> bool:
        return name in SECRET or name.endswith("_hash") or (self.name, name) in SECRET_OF

    @property
    def order(self) -> list[sa.ColumnElement[Any]]:
        keys = sorted((column for column in self.columns if column.key_position), key=lambda found: found.key_position)
        return [sa.column(quoted_name(column.name, quote=True)) for column in keys]


def listed(_by: Caller, *, detail: bool) -> list[Any]:
    """The names of all tables; in `detail` each with an estimate of its rows and its size on disk."""
    if not detail:
        return [row.name for row in _tables()]
    return [{"name": row.name, "rows_estimate": row.rows_estimate, "bytes": row.bytes} for row in _tables()]


def page(name: str, _by: Caller, *, limit: int, offset: int) -> dict[str, Any]:
    """Some rows of a table, by primary key where there is one."""
    table = _find(name)
    texts = [sa.func.left(sa.cast(table.value(column), sa.Text), MAX_CELL) for column in table.columns]
    query = sa.select(*texts).select_from(table.selectable).order_by(*table.order).limit(limit).offset(offset)
    with autocommit() as connection:
        found = connection.execute(query).all()
        total = table.rows_estimate
        if total < MAX_COUNTED:
            total = connection.scalar(sa.select(sa.func.count()).select_from(table.selectable)) or 0
    rows = [
        {
            column.name: cell if table.is_secret(column.name) else to_json(cell, column.type_oid)
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in found
    ]
    columns = [{"name": column.name, "type": column.type} for column in table.columns]
    return {"table": table.name, "columns": columns, "rows": rows, "total": total, "limit": limit, "offset": offset}


def export(name: str, by: Caller) -> Download:
    """The whole table as CSV, while the database reads it."""
    table = _find(name)
    columns = []
    for column in table.columns:
        kind = Kind.TEXT if table.is_secret(column.name) else KINDS.get(column.type_oid, Kind.TEXT)
        value = table.value(column)
        columns.append(Column(column.name, sa.cast(value, sa.Text) if kind is Kind.TEXT else value, kind))
    source = sa.select(sa.text("1")).select_from(table.selectable).order_by(*table.order)
    audit.record(by, audit.Action.EXPORT, f"table:{table.name}", format="csv")
    return Download(f"{table.name}.csv", csv.MIMETYPE, begun(csv.stream(Table(tuple(columns), source))))


def _tables() -> list[Any]:
    with autocommit() as connection:
        return list(connection.execute(_TABLES).all())


def _find(name: str) -> Found:
    known = next((row for row in _tables() if row.name == name), None)
    if known is None:
        raise NotFound("Tabel tidak ditemukan.", code="unknown_table")
    with autocommit() as connection:
        columns = list(connection.execute(_COLUMNS, {"oid": known.oid}).all())
    return Found(known.name, known.rows_estimate, columns)
