"""XLSX exports. xlsxwriter writes the rows to a file on disk, which is then sent to the client.

People read this format. The headings are Indonesian, and times are in WIB (Jakarta time). The first row stays visible
and has filters. In print, all columns fit into the width of one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import xlsxwriter

from app.core.database.session import Connect, own_connection
from app.core.exports.folder import export_folder
from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import Column, ColumnType, Table
from app.core.lib.csv_injection import is_dangerous
from app.core.lib.local_time import JAKARTA

CHUNK_BYTES = 64 * 1024
ROWS_AHEAD = 500

#: Limits of a sheet. Further rows continue on the next sheet. Longer texts are cut off.
SHEET_ROWS = 1_048_576
CELL_CHARACTERS = 32_767

A4 = 9  # xlsxwriter's code for the paper size A4

TEXTS = (ColumnType.TEXT, ColumnType.NAME)

MOMENT_FORMAT = "dd-mm-yyyy hh:mm:ss"
MOMENT_WIDTH = 20
DAY_FORMAT = "dd-mm-yyyy"
#: Width of a column whose `share` is 1, and additional width of each heading for its filter arrow. Both are in
#: characters.
SHARE_WIDTH = 12
ARROW_WIDTH = 4


def stream(table: Table, connect: Connect = own_connection, *, title: str) -> Chunks:
    """Write the whole table to a file on disk, then stream the file. The memory use is constant."""
    with EXPORTS.slot(), export_folder() as folder:
        with connect() as connection:
            rows = connection.execute(table.statement, execution_options={"yield_per": ROWS_AHEAD})
            # Yield an empty first chunk after the query. An error of the query then still becomes an error response.
            yield b""
            path = folder / "export.xlsx"
            _write(path, table.columns, rows, title)
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


def _write(path: Path, columns: Sequence[Column], rows: sa.CursorResult[Any], title: str) -> None:
    with _workbook(path) as book:
        sheets = _sheets(book, columns, title)
        sheet, n = next(sheets), 0
        quoted = book.add_format({"quote_prefix": True})
        moment = book.add_format({"num_format": MOMENT_FORMAT, "align": "left"})
        day = book.add_format({"num_format": DAY_FORMAT, "align": "left"})
        kinds = [column.kind for column in columns]
        for row in rows:
            n += 1
            if n == SHEET_ROWS:
                sheet, n = next(sheets), 1
            for c, (kind, value) in enumerate(zip(kinds, row, strict=True)):
                if value is None:
                    continue
                if kind in TEXTS:
                    # Write the text as a string. The quote prefix keeps it a string after a user edits the cell.
                    sheet.write_string(n, c, value[:CELL_CHARACTERS], quoted if is_dangerous(value) else None)
                elif kind is ColumnType.NUMBER:
                    sheet.write_number(n, c, value)
                elif kind is ColumnType.DAY:
                    sheet.write_datetime(n, c, value, day)
                elif kind is ColumnType.FLAG:
                    sheet.write_boolean(n, c, value)
                else:
                    sheet.write_datetime(n, c, value.astimezone(JAKARTA).replace(tzinfo=None), moment)
        _filter(sheet, columns, n)


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    book = xlsxwriter.Workbook(
        path,
        {
            "constant_memory": True,
            "tmpdir": str(path.parent),
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        },
    )
    try:
        yield book
        book.close()
    finally:
        for sheet in book.worksheets():
            # After an error, `book.close()` was not called. The temporary file of the sheet is then still open.
            sheet.row_data_fh.close()


def _sheets(book: Any, columns: Sequence[Column], title: str) -> Iterator[Any]:
    """Yield new sheets. The caller requests the next sheet when the current sheet is full."""
    heading = book.add_format({"bold": True, "bg_color": "#DDEFEC", "bottom": 1})
    while True:
        number = len(book.worksheets()) + 1
        sheet = book.add_worksheet(title if number == 1 else f"{title} {number}")
        sheet.freeze_panes(1, 0)
        _fit_on_paper(sheet)
        _filter(sheet, columns, SHEET_ROWS - 1)  # the caller repeats this for the last sheet with its last row
        # Otherwise Excel would mark each phone number as an error, because phone numbers are stored as text.
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{SHEET_ROWS}"})
        for c, column in enumerate(columns):
            sheet.set_column(c, c, _width(column))
            sheet.write_string(0, c, _heading(column), heading)
        yield sheet


def _fit_on_paper(sheet: Any) -> None:
    """Print on A4 landscape, one page wide, with the heading and the page number on each page."""
    sheet.set_paper(A4)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.set_footer("&L&A&RHalaman &P dari &N")


def _filter(sheet: Any, columns: Sequence[Column], last_row: int) -> None:
    sheet.autofilter(0, 0, last_row, len(columns) - 1)


def _heading(column: Column) -> str:
    return f"{column.label} (WIB)" if column.kind is ColumnType.TIME else column.label


def _width(column: Column) -> int:
    least = MOMENT_WIDTH if column.kind is ColumnType.TIME else round(SHARE_WIDTH * column.share)
    return max(least, len(_heading(column)) + ARROW_WIDTH)
