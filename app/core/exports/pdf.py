"""PDF exports: reports for printing, with headings on every page, wrapped cells and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Any

from fpdf import FPDF

from app.core.exports import fonts
from app.core.exports.charts import ACCENT, FAINT, INK, LEFT, RIGHT, RULE, TINT, number, write
from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import Column, ColumnType, Paper, ReportRows, Table
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


def stream(table: Table, paper: Paper) -> Chunks:
    """Return the document in one chunk. It shows the first `MAX_ROWS` rows, and says how many rows there are."""
    with EXPORTS.slot():
        with table.rows() as found:
            rows = list(islice(found, MAX_ROWS))
        count = table.count() if len(rows) == MAX_ROWS else len(rows)
        yield _document(table.columns, rows, count, paper)


def stream_rows(columns: Sequence[Column], rows: ReportRows, paper: Paper) -> Chunks:
    """Return a document with these rows in one chunk."""
    with EXPORTS.slot():
        yield _document(columns, rows, len(rows), paper)


def _document(columns: Sequence[Column], rows: ReportRows, count: int, paper: Paper) -> bytes:
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
        pdf.y = paper.chart(rows, start, paper.end).draw(pdf, MARGIN, pdf.y, pdf.room) + 4
        if pdf.y > pdf.h - 40:
            pdf.add_page()
    pdf.add_table(rows)
    return bytes(pdf.output())


def _text(kind: ColumnType, value: Any) -> str:
    """Return a value as text in Indonesian notation."""
    match kind:
        case _ if value is None:
            return ""
        case ColumnType.TIME:
            return f"{value.astimezone(JAKARTA):%d-%m-%Y %H.%M}"
        case ColumnType.FLAG:
            return "Ya" if value else "Tidak"
        case ColumnType.NUMBER:
            return str(value).replace(".", ",")
        case ColumnType.TEXT:
            lines = (" ".join(line.split()) for line in str(value).splitlines())
            return fonts.replace_missing_glyphs("\n".join(lines))


class _Pages(FPDF):
    def __init__(self, paper: Paper, columns: Sequence[Column], count: int) -> None:
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
        self.c_margin = 0
        self.set_auto_page_break(False)
        self.add_font(FAMILY, "", fonts.NOTO_SANS)
        self.add_font(FAMILY, "B", fonts.NOTO_SANS_BOLD)
        self.set_font(FAMILY)
        self.room = self.w - 2 * MARGIN
        shares = sum(column.share for column in columns)
        self.widths = [self.room * column.share / shares for column in columns]

    def header(self) -> None:
        """Write the title and the range at the top of a page. fpdf2 calls this."""
        self.set_fill_color(*ACCENT)
        self.rect(0, 0, self.w, 3, style="F")
        right = self.w - MARGIN
        if self.page_no() > 1:
            write(self, MARGIN, 11, self.paper.title, style="B", size=8)
            write(self, right, 11, self.range_text, size=8, color=FAINT, align=RIGHT)
            self.y = 15
            return
        write(self, MARGIN, 18, self.paper.title, style="B", size=17)
        write(self, MARGIN, 25, self.range_text, size=10, color=ACCENT)
        write(self, right, 25, self.about, color=FAINT, align=RIGHT)
        self.y = 31

    def footer(self) -> None:
        """Write the page number at the bottom of a page. fpdf2 calls this."""
        self.set_draw_color(*RULE)
        self.line(MARGIN, self.h - 10, self.w - MARGIN, self.h - 10)
        self.set_font(FAMILY, "", FONT_PT)
        self.set_text_color(*FAINT)
        self.set_xy(MARGIN, self.h - 9)
        self.cell(self.room, 5, f"Halaman {self.page_no()} dari {{nb}}", align="R")

    def add_remarks(self, remarks: Sequence[str]) -> None:
        self.set_font(style="", size=REMARK_PT)
        self.set_text_color(*INK)
        for remark in remarks:
            self.multi_cell(self.room, REMARK_MM, remark, align="L", new_x="LMARGIN", new_y="NEXT")
        self.y += REMARK_MM / 2 if remarks else 0

    def add_table(self, rows: ReportRows) -> None:
        self._headings()
        for n, row in enumerate(rows):
            texts = [_text(column.kind, value) for column, value in zip(self.columns, row, strict=True)]
            self._row(texts, shaded=n % 2 == 1)
        if not rows:
            write(self, MARGIN + PADDING, self.y + 6, NOTHING, color=FAINT)

    def _headings(self) -> None:
        self.set_fill_color(*TINT)
        self.rect(MARGIN, self.y, self.room, HEADING_MM, style="F")
        self._cells([[column.label] for column in self.columns], self.y + 4.6, "B")
        self.y += HEADING_MM

    def _row(self, texts: Sequence[str], *, shaded: bool) -> None:
        cells = [_wrapped(text, width - 2 * PADDING) for text, width in zip(texts, self.widths, strict=True)]
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

    def _cells(self, cells: Sequence[Sequence[str]], y: float, style: str) -> None:
        x = MARGIN
        for column, lines, width in zip(self.columns, cells, self.widths, strict=True):
            start, align = (width - PADDING, RIGHT) if column.kind is ColumnType.NUMBER else (PADDING, LEFT)
            for n, line in enumerate(lines):
                write(self, x + start, y + n * LINE_MM, line, style=style, align=align)
            x += width


def _wrapped(text: str, width: float) -> list[str]:
    """Split a text into lines at spaces. If a word is wider than a line, split the word after any character."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        rest = paragraph
        while len(lines) <= MAX_LINES and (fitting := _fitting(rest, width)) < len(rest):
            end = rest.rfind(" ", 0, fitting + 1)
            if end < 0:  # prefer a break after punctuation near the end
                end = max(rest.rfind(mark, max(1, fitting - 8), fitting) for mark in "@._-/") + 1 or fitting
            lines.append(rest[:end])
            rest = rest[end:].removeprefix(" ")
        lines.append(rest)
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][:-1] + "…"]


def _fitting(text: str, width: float) -> int:
    """Return how many characters fit on a line, at least one. This takes a tenth of the time of fpdf2's function."""
    widths = fonts.widths(fonts.NOTO_SANS)
    limit = width / (FONT_PT * MM_PER_PT)
    ends = accumulate(widths[ord(character)] for character in text)
    return next((max(1, n) for n, end in enumerate(ends) if end > limit), len(text))
