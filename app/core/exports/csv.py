"""CSV exports, streamed to the client while the database reads the rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import ROWS_AT_ONCE, Column, ColumnType, Table
from app.core.lib.csv_injection import guarded

#: Byte order mark, so that a spreadsheet program detects UTF-8.
BYTE_ORDER_MARK = "\ufeff"


def stream(table: Table) -> Chunks:
    """Stream the whole table. The memory use is constant, because reading pauses while the client is slow."""
    is_text = [column.kind is ColumnType.TEXT for column in table.columns]
    with EXPORTS.slot(), table.rows(_cell) as rows:
        yield from lines([column.name for column in table.columns], is_text, rows.partitions(ROWS_AT_ONCE))


def lines(names: Sequence[str], is_text: Sequence[bool], parts: Iterable[Sequence[Any]]) -> Chunks:
    """Return a CSV file in chunks, one for each part of the rows. Only text is guarded, and not negative numbers."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write(BYTE_ORDER_MARK)
    writer.writerow(map(guarded, names))
    for part in parts:
        columns = zip(*part, strict=True)  # guard whole columns, because this takes half the time
        writer.writerows(zip(*(_guarded(c) if t else c for c, t in zip(columns, is_text, strict=True)), strict=True))
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def _guarded(column: Iterable[str | None]) -> list[str | None]:
    return [text and guarded(text) for text in column]


def _cell(column: Column) -> sa.ColumnElement[Any]:
    """Return the SQL expression of a cell. PostgreSQL formats times, because Python would take twice as long."""
    match column.kind:
        case ColumnType.TIME:
            quoted = sa.cast(sa.func.to_json(sa.func.timezone("UTC", column.value)), sa.Text)
            return sa.func.substr(quoted, 2, len("2026-03-02T00:00:00")).concat("Z")
        case ColumnType.FLAG:
            return sa.cast(column.value, sa.Text)
        case _:
            return column.value
