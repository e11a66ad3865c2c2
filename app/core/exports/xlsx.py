"""XLSX exports. xlsxwriter writes the rows to a file on disk, which is then sent to the client.

People read this format. The headings are Indonesian, and times are in WIB (Jakarta time). The first row stays visible
and has filters. In print, all columns fit into the width of one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xlsxwriter

from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import Column, ColumnType, Table
from app.core.lib.csv_injection import guarded
from app.core.lib.local_time import JAKARTA

CHUNK_BYTES = 64 * 1024

#: Limits of a sheet. Further rows continue on the next sheet. Longer texts are cut off.
SHEET_ROWS = 1_048_576
CELL_CHARACTERS = 32_767

A4 = 9  # xlsxwriter's code for the paper size A4

#: Width of a column whose `share` is 1, and additional width of each heading for its filter arrow. Both are in
#: characters.
SHARE_WIDTH = 12
ARROW_WIDTH = 4
MOMENT_WIDTH = 20

#: Cell formats by name. The quote prefix keeps a text a text after a user edits the cell.
FORMATS = {
    "heading": {"bold": True, "bg_color": "#DDEFEC", "bottom": 1},
    "quoted": {"quote_prefix": True},
    "moment": {"num_format": "dd-mm-yyyy hh:mm:ss", "align": "left"},
}


def stream(table: Table, *, title: str) -> Chunks:
    """Write the whole table to a file on disk, then stream the file. The memory use is constant."""
    with EXPORTS.slot(), TemporaryDirectory(prefix="health-export-") as folder:
        path = Path(folder) / "export.xlsx"
        with table.rows() as rows:
            # Yield an empty first chunk after the query. An error of the query then still becomes an error response.
            yield b""
            _write(path, table.columns, iter(rows), title)
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


def _write(path: Path, columns: Sequence[Column], rows: Iterator[Any], title: str) -> None:
    options = {"constant_memory": True, "tmpdir": str(path.parent)}
    with xlsxwriter.Workbook(path, options) as book:
        formats = {name: book.add_format(look) for name, look in FORMATS.items()}
        while (first := next(rows, None)) or not book.worksheets():
            number = len(book.worksheets()) + 1
            sheet = book.add_worksheet(title if number == 1 else f"{title} {number}")
            _fill(sheet, columns, chain([first] if first else [], islice(rows, SHEET_ROWS - 2)), formats)


def _fill(sheet: Any, columns: Sequence[Column], rows: Iterator[Any], formats: dict[str, object]) -> None:
    """Write a sheet that prints on A4 landscape, one page wide, with the heading and the page number on each page."""
    for c, column in enumerate(columns):
        is_time = column.kind is ColumnType.TIME
        heading = f"{column.label} (WIB)" if is_time else column.label
        least = MOMENT_WIDTH if is_time else round(SHARE_WIDTH * column.share)
        sheet.set_column(c, c, max(least, len(heading) + ARROW_WIDTH))
        sheet.write_string(0, c, heading, formats["heading"])
    n = 0
    for n, row in enumerate(rows, 1):
        for c, (column, value) in enumerate(zip(columns, row, strict=True)):
            match column.kind:
                case _ if value is None:
                    continue
                case ColumnType.TEXT:
                    is_dangerous = guarded(value) != value
                    sheet.write_string(n, c, value[:CELL_CHARACTERS], formats["quoted"] if is_dangerous else None)
                case ColumnType.NUMBER:
                    sheet.write_number(n, c, value)
                case ColumnType.FLAG:
                    sheet.write_boolean(n, c, value)
                case ColumnType.TIME:
                    moment = value.astimezone(JAKARTA).replace(tzinfo=None)
                    sheet.write_datetime(n, c, moment, formats["moment"])
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, n, len(columns) - 1)
    # Otherwise Excel would mark each phone number as an error, because phone numbers are stored as text.
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{SHEET_ROWS}"})
    sheet.set_paper(A4)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.set_footer("&L&A&RHalaman &P dari &N")
