"""PDF exports: reports for printing, with headings on every page, wrapped cells and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Protocol

from fpdf import FPDF

from app.core.exports import fonts
from app.core.exports.charts import ACCENT, FAINT, INK, RULE, TINT, Chart, number
from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import ColumnType, Paper, ReportRows, Table
from app.core.lib.local_time import JAKARTA, day_text, now

#: Maximum rows in a document. A document with more rows would be too long to print.
MAX_ROWS = 5000

MARGIN = 12.0
PADDING = 1.3
LINE_MM = 3.9
HEADING_MM = 7.0
FONT_PT = 7.5
MM_PER_PT = 25.4 / 72
#: Font size and line height of the remarks above the table.
REMARK_PT, REMARK_MM = 9, 5.0
#: Maximum lines in a cell. A longer text ends with an ellipsis.
MAX_LINES = 12

NOTHING = "Tidak ada data dalam rentang ini."
MORE = "Tabel ini memuat {shown} dari {count} baris. Unduh xlsx atau csv untuk semua baris."

FAMILY = "Sans"


class Heading(Protocol):
    """Heading of a column. `share` is the relative width of the column."""

    @property
    def label(self) -> str: ...
    @property
    def kind(self) -> ColumnType: ...
    @property
    def share(self) -> float: ...


def stream(table: Table, paper: Paper) -> Chunks:
    """Return the document in one chunk. It shows the first `MAX_ROWS` rows, and says how many rows there are."""
    with EXPORTS.slot():
        with table.rows() as found:
            rows = list(islice(found, MAX_ROWS))
        count = table.count() if len(rows) == MAX_ROWS else len(rows)
        yield _document(table.columns, rows, count, paper)


def stream_rows(columns: Sequence[Heading], rows: ReportRows, paper: Paper) -> Chunks:
    """Return a document with these rows in one chunk."""
    with EXPORTS.slot():
        yield _document(columns, rows, len(rows), paper)


def _document(columns: Sequence[Heading], rows: ReportRows, count: int, paper: Paper) -> bytes:
    remarks, start = [*paper.remarks], paper.start
    if count > len(rows):
        remarks.append(MORE.format(shown=number(len(rows)), count=number(count)))
        # Begin the chart at the oldest shown row, because the rows of older days are missing. A chart begins before its
        # `start` if a row is older.
        start = paper.end
    pdf = _Pages(paper, columns, count)
    pdf.add_page()
    pdf.add_remarks([_text(ColumnType.TEXT, remark) for remark in remarks])
    if paper.chart and rows:
        pdf.add_chart(paper.chart(rows, start, paper.end))
    kinds = [column.kind for column in columns]
    pdf.add_table([[_text(kind, value) for kind, value in zip(kinds, row, strict=True)] for row in rows])
    return bytes(pdf.output())


def _text(kind: ColumnType, value: Any) -> str:
    """Return a value as text in Indonesian notation."""
    match kind:
        case _ if value is None:
            return ""
        case ColumnType.TIME:
            return f"{value.astimezone(JAKARTA):%d-%m-%Y %H.%M}"
        case ColumnType.DAY:
            return f"{value:%d-%m-%Y}"
        case ColumnType.FLAG:
            return "Ya" if value else "Tidak"
        case ColumnType.NUMBER:
            return str(value).replace(".", ",")
        case ColumnType.TEXT:
            lines = (" ".join(line.split()) for line in str(value).splitlines())
            return fonts.replace_missing_glyphs("\n".join(lines))


class _Pages(FPDF):
    def __init__(self, paper: Paper, columns: Sequence[Heading], count: int) -> None:
        super().__init__(orientation="landscape" if paper.landscape else "portrait", format="A4")
        self.paper, self.columns = paper, columns
        self.range_text = f"{day_text(paper.start)} – {day_text(paper.end)}"
        self.about = f"{number(count)} baris · dibuat {_text(ColumnType.TIME, now())} WIB"
        if any(column.kind is ColumnType.TIME for column in columns):
            self.about += " · waktu dalam WIB"
        self.set_title(paper.title)
        self.set_lang("id-ID")
        self.set_creation_date(now())
        self.set_margins(MARGIN, MARGIN)
        self.set_auto_page_break(False)
        self.add_font(FAMILY, "", fonts.NOTO_SANS)
        self.add_font(FAMILY, "B", fonts.NOTO_SANS_BOLD)
        self.set_font(FAMILY, size=FONT_PT)
        self.room = self.w - 2 * MARGIN
        shares = sum(column.share for column in columns)
        self.widths = [self.room * column.share / shares for column in columns]

    def header(self) -> None:
        """Write the title and the range at the top of a page. fpdf2 calls this."""
        self.set_fill_color(*ACCENT)
        self.rect(0, 0, self.w, 3, style="F")
        right = self.w - MARGIN
        if self.page_no() > 1:
            self._write(MARGIN, 11, self.paper.title, "B", 8)
            self._write(right, 11, self.range_text, "", 8, FAINT, right=True)
            self.y = 15
            return
        self._write(MARGIN, 18, self.paper.title, "B", 17)
        self._write(MARGIN, 25, self.range_text, "", 10, ACCENT)
        self._write(right, 25, self.about, "", 7.5, FAINT, right=True)
        self.y = 31

    def footer(self) -> None:
        """Write the page number at the bottom of a page. fpdf2 calls this."""
        self.set_draw_color(*RULE)
        self.line(MARGIN, self.h - 10, self.w - MARGIN, self.h - 10)
        self.set_font(FAMILY, "", 7.5)
        self.set_text_color(*FAINT)
        self.set_xy(MARGIN, self.h - 9)
        self.cell(self.room, 5, f"Halaman {self.page_no()} dari {{nb}}", align="R")

    def add_remarks(self, remarks: list[str]) -> None:
        for line in (line for remark in remarks for line in _wrapped(remark, self.room, REMARK_PT)):
            self._write(MARGIN, self.y + 3.5, line, "", REMARK_PT)
            self.y += REMARK_MM
        self.y += REMARK_MM / 2 if remarks else 0

    def add_chart(self, chart: Chart) -> None:
        chart.draw(self, MARGIN, self.y, self.room)
        self.y += chart.height + 4
        if self.y > self.h - 40:
            self.add_page()

    def add_table(self, rows: list[list[str]]) -> None:
        self._headings()
        for n, row in enumerate(rows):
            self._row(row, shaded=n % 2 == 1)
        if not rows:
            self._write(MARGIN + PADDING, self.y + 6, NOTHING, color=FAINT)

    def _headings(self) -> None:
        self.set_fill_color(*TINT)
        self.rect(MARGIN, self.y, self.room, HEADING_MM, style="F")
        self._cells([[column.label] for column in self.columns], self.y + 4.6, "B")
        self.y += HEADING_MM

    def _row(self, row: list[str], *, shaded: bool) -> None:
        cells = [_wrapped(text, width - 2 * PADDING, FONT_PT) for text, width in zip(row, self.widths, strict=True)]
        height = LINE_MM * max(map(len, cells)) + 1.6
        if self.y + height > self.h - 12:
            self.add_page()
            self._headings()
        if shaded:
            self.set_fill_color(249, 250, 251)
            self.rect(MARGIN, self.y, self.room, height, style="F")
        self.set_draw_color(*RULE)
        self.set_line_width(0.15)
        self.line(MARGIN, self.y, self.w - MARGIN, self.y)
        self._cells(cells, self.y + 3.5, "")
        self.y += height

    def _cells(self, cells: list[list[str]], y: float, style: str) -> None:
        x = MARGIN
        for column, lines, width in zip(self.columns, cells, self.widths, strict=True):
            right = column.kind is ColumnType.NUMBER
            for n, line in enumerate(lines):
                self._write(x + (width - PADDING if right else PADDING), y + n * LINE_MM, line, style, right=right)
            x += width

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        style: str = "",
        size: float = FONT_PT,
        color: tuple[int, int, int] = INK,
        *,
        right: bool = False,
    ) -> None:
        self.set_font(FAMILY, style, size)
        self.set_text_color(*color)
        self.text(x - self.get_string_width(text) if right else x, y, text)


def _wrapped(text: str, width: float, size: float) -> list[str]:
    """Split a text into lines at spaces. If a word is wider than a line, split the word between any two characters."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            joined = f"{line} {word}" if line else word
            if _width(joined, size) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            line = word
            while _width(line, size) > width and len(lines) <= MAX_LINES:
                fitting = _fitting(line, width, size)
                lines.append(line[:fitting])
                line = line[fitting:]
        lines.append(line)
        if len(lines) > MAX_LINES:
            return [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][:-1] + "…"]
    return lines


def _fitting(word: str, width: float, size: float) -> int:
    """Return how many characters of a long word fit on a line. Prefer a break after punctuation near the end."""
    n = 1
    while n < len(word) and _width(word[: n + 1], size) <= width:
        n += 1
    return next((k for k in range(n, max(1, n - 8), -1) if word[k - 1] in "@._-/"), n)


def _width(text: str, size: float) -> float:
    """Return the width of a text in millimetres. This takes a tenth of the time of fpdf2's own function."""
    widths = fonts.widths(fonts.NOTO_SANS)
    return sum(widths[ord(character)] for character in text) * size * MM_PER_PT
