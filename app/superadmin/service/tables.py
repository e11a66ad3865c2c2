"""Table browser: the tables of the service's own metadata, with secrets masked."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from app.core.database.session import Base, db
from app.core.errors import NotFound
from app.core.exports import csv
from app.core.exports.streaming import Download, start_download
from app.core.exports.table import Column, ColumnType, Table
from app.identity import audit
from app.identity.sessions import Caller
from app.superadmin.service.values import Convert, boolean, document, number

MASK = "***"

#: Maximum characters of a cell on a page. Longer texts are cut, but not in the export.
MAX_CELL = 10_000

_NUMBERS = (sa.Integer, sa.Numeric)


def list_all() -> list[str]:
    return sorted(Base.metadata.tables)


def get(name: str, *, limit: int, offset: int) -> dict[str, object]:
    """Return a page of rows of a table, sorted by the primary key."""
    table = _table(name)
    texts = [sa.func.left(_text(column), MAX_CELL) for column in table.columns]
    page = sa.select(*texts).select_from(table).order_by(*table.primary_key).limit(limit).offset(offset)
    return {
        "table": table.name,
        "columns": [{"name": column.name, "type": _type(column)} for column in table.columns],
        "rows": [
            {column.name: _value(column, text) for column, text in zip(table.columns, row, strict=True)}
            for row in db.session.execute(page)
        ],
        "total": db.session.scalar(sa.select(sa.func.count()).select_from(table)),
        "limit": limit,
        "offset": offset,
    }


def export(name: str, by: Caller) -> Download:
    """Stream the whole table as CSV while the database reads it."""
    table = _table(name)
    columns = tuple(
        Column(column.name, _text(column), ColumnType.NUMBER if isinstance(column.type, _NUMBERS) else ColumnType.TEXT)
        for column in table.columns
    )
    source = sa.select(sa.text("1")).select_from(table).order_by(*table.primary_key)
    download = start_download(f"{table.name}.csv", csv.stream(Table(columns, source)))
    audit.record(by, audit.AuditAction.EXPORT, f"table:{table.name}", format="csv")
    return download


def _table(name: str) -> sa.Table:
    table = Base.metadata.tables.get(name)
    if table is None:
        raise NotFound("Tabel tidak ditemukan.", code="unknown_table")
    return table


def _text(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Return the column as text. In a secret column, the mask replaces each non-null value."""
    is_secret = column.info.get("secret")
    return sa.case((column.is_not(None), sa.literal(MASK))) if is_secret else sa.cast(column, sa.Text)


def _type(column: sa.Column[Any]) -> str:
    return column.type.compile(postgresql.dialect()).lower()  # type: ignore[no-untyped-call]  # SQLAlchemy has no types here


def _value(column: sa.Column[Any], text: str | None) -> object:
    """Return the JSON value of a cell. A cell that was cut is a text."""
    if text is None or len(text) >= MAX_CELL or column.info.get("secret"):
        return text
    kinds: tuple[tuple[Any, Convert], ...] = ((sa.Boolean, boolean), (_NUMBERS, number), (sa.JSON, document))
    return next((convert(text) for kind, convert in kinds if isinstance(column.type, kind)), text)
