"""PDF exports: reports for printing, with headings on every page, wrapped cells and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from fpdf import FPDF
from fpdf.fonts import TTFFont

from app.core.database.session import Connect, own_connection
from app.core.errors import BadRequest
from app.core.exports import fonts
from app.core.exports.charts import ACCENT, FAINT, INK, RULE, TINT, Chart, number
from app.core.exports.report_layout import Paper, ReportRows
from app.core.exports.streaming import EXPORTS, Chunks
from app.core.exports.table import Column, ColumnType, Table
from app.core.lib.local_time import JAKARTA, day_text, now

MAX_ROWS = 5000

MARGIN = 12.0
PADDING = 1.3
LINE_MM = 3.9
HEADING_MM = 7.0
FONT_PT = 7.5
#: Font size and line height of the remarks above the table.
REMARK_PT, REMARK_MM = 9, 5.0
#: Maximum lines in a cell. A longer text ends with an ellipsis.
MAX_LINES = 12

NOTHING = "Tidak ada data dalam rentang ini."

FAMILY = "Sans"


def stream(table: Table, paper: Paper, connect: Connect = own_connection) -> Chunks:
    """Return the document in one chunk. Raise `too_many_rows` if the table has more than `MAX_ROWS` rows."""
    with EXPORTS.slot():
        with connect() as connection:
            rows = connection.execute(table.statement.limit(MAX_ROWS + 1)).all()
        if len(rows) > MAX_ROWS:
            raise BadRequest(
                f"PDF memuat paling banyak {number(MAX_ROWS)} baris. Persempit rentang atau pilih csv atau xlsx.",
                code="too_many_rows",
            )
        yield _document(table.columns, rows, paper)


def _document(columns: Sequence[Column], rows: ReportRows, paper: Paper) -> bytes:
    kinds = [column.kind for column in columns]
    cells = [[_text(kind, value) for kind, value in zip(kinds, row, strict=True)] for row in rows]
    chart = paper.chart(rows, paper.start, paper.end) if paper.chart and rows else None
    pdf = _Pages(paper, columns, len(rows))
    pdf.fill([_text(ColumnType.TEXT, remark) for remark in paper.remarks], cells, chart)
    return bytes(pdf.output())


def _text(kind: ColumnType, value: Any) -> str:
    """Return a value as text in Indonesian notation."""
    match kind:
        case _ if value is None:
            return ""
        case ColumnType.TIME:
            moment: datetime = value.astimezone(JAKARTA)
            return f"{moment:%d-%m-%Y %H.%M}"
        case ColumnType.DAY:
            return f"{value:%d-%m-%Y}"
        case ColumnType.FLAG:
            return "Ya" if value else "Tidak"
        case ColumnType.NUMBER:
            return str(value).replace(".", ",")
        case _:
            lines = (" ".join(line.split()) for line in str(value).splitlines())
            return fonts.replace_missing_glyphs("\n".join(lines))


class _Pages(FPDF):
    def __init__(self, paper: Paper, columns: Sequence[Column], count: int) -> None:
        super().__init__(orientation="landscape" if paper.landscape else "portrait", format="A4")
        self.paper = paper
        self.columns = columns
        self.range_text = f"{day_text(paper.start)} – {day_text(paper.end)}"
        self.about = f"{number(count)} baris · dibuat {_text(ColumnType.TIME, now())} WIB · waktu dalam WIB"
        self.set_title(paper.title)
        self.set_lang("id-ID")
        self.set_creation_date(now())
        self.set_margins(MARGIN, MARGIN)
        self.set_auto_page_break(False)
        self.add_font(FAMILY, "", fonts.NOTO_SANS)
        self.add_font(FAMILY, "B", fonts.NOTO_SANS_BOLD)
        self.set_font(FAMILY, size=FONT_PT)
        room = self.w - 2 * MARGIN
        shares = sum(column.share for column in columns)
        self.widths = [room * column.share / shares for column in columns]

    def fill(self, remarks: list[str], cells: list[list[str]], chart: Chart | None) -> None:
        self.add_page()
        self._remarks(remarks)
        if chart:
            chart.draw(self, MARGIN, self.y, self.w - 2 * MARGIN)
            self.y += chart.height + 4
            if self.y > self.h - 40:
                self.add_page()
        self._headings()
        for n, row in enumerate(cells):
            self._row(row, shaded=n % 2 == 1)
        if not cells:
            self.set_text_color(*FAINT)
            self.text(MARGIN + PADDING, self.y + 6, NOTHING)

    def _remarks(self, remarks: list[str]) -> None:
        self.set_font(FAMILY, "", REMARK_PT)
        self.set_text_color(*INK)
        width = self.w - 2 * MARGIN
        for line in (line for remark in remarks for line in self._wrapped(remark, width)):
            self._line(line, MARGIN, self.y, width, right=False)
            self.y += REMARK_MM
        self.y += REMARK_MM / 2 if remarks else 0

    def header(self) -> None:
        self.set_fill_color(*ACCENT)
        self.rect(0, 0, self.w, 3, style="F")
        self.set_text_color(*INK)
        if self.page_no() > 1:
            self._write(MARGIN, 11, self.paper.title, "B", 8, INK)
            self._write(self.w - MARGIN, 11, self.range_text, "", 8, FAINT, right=True)
            self.y = 15
            return
        self._write(MARGIN, 18, self.paper.title, "B", 17, INK)
        self._write(MARGIN, 25, self.range_text, "", 10, ACCENT)
        self._write(self.w - MARGIN, 25, self.about, "", 7.5, FAINT, right=True)
        self.y = 31

    def footer(self) -> None:
        self.set_draw_color(*RULE)
        self.line(MARGIN, self.h - 10, self.w - MARGIN, self.h - 10)
        self.set_font(FAMILY, "", 7.5)
        self.set_text_color(*FAINT)
        self.set_xy(MARGIN, self.h - 9)
        self.cell(self.w - 2 * MARGIN, 5, f"Halaman {self.page_no()} dari {{nb}}", align="R")

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        style: str,
        size: float,
        color: tuple[int, int, int],
        *,
        right: bool = False,
    ) -> None:
        self.set_font(FAMILY, style, size)
        self.set_text_color(*color)
        self.text(x - self.get_string_width(text) if right else x, y, text)

    def _headings(self) -> None:
        self.set_fill_color(*TINT)
        self.rect(MARGIN, self.y, self.w - 2 * MARGIN, HEADING_MM, style="F")
        self.set_font(FAMILY, "B", FONT_PT)
        self.set_text_color(*INK)
        x = MARGIN
        for column, width in zip(self.columns, self.widths, strict=True):
            at = x + PADDING
            if column.kind is ColumnType.NUMBER:
                at = x + width - PADDING - self.get_string_width(column.label)
            self.text(at, self.y + 4.6, column.label)
            x += width
        self.y += HEADING_MM
        self.set_font(FAMILY, "", FONT_PT)

    def _row(self, row: list[str], *, shaded: bool) -> None:
        wrapped = [self._wrapped(text, width - 2 * PADDING) for text, width in zip(row, self.widths, strict=True)]
        height = LINE_MM * max(1, *map(len, wrapped)) + 1.6
        if self.y + height > self.h - 12:
            self.add_page()
            self._headings()
        if shaded:
            self.set_fill_color(249, 250, 251)
            self.rect(MARGIN, self.y, self.w - 2 * MARGIN, height, style="F")
        self.set_draw_color(*RULE)
        self.set_line_width(0.15)
        self.line(MARGIN, self.y, self.w - MARGIN, self.y)
        self.set_text_color(*INK)
        x, top = MARGIN, self.y
        for column, lines, width in zip(self.columns, wrapped, self.widths, strict=True):
            for n, line in enumerate(lines):
                self._line(line, x + PADDING, top + n * LINE_MM, width - 2 * PADDING, column.kind is ColumnType.NUMBER)
            x += width
        self.y = top + height

    def _line(self, text: str, x: float, y: float, width: float, right: bool) -> None:
        self.text(x + width - self._width(text) if right else x, y + 3.5, text)

    def _wrapped(self, text: str, width: float) -> list[str]:
        """Split the text of a cell into lines at spaces.

        If a word is wider than the cell, split the word between any two characters.
        """
        lines: list[str] = []
        for paragraph in text.split("\n"):
            line = ""
            for word in paragraph.split(" "):
                joined = f"{line} {word}" if line else word
                if self._width(joined) <= width:
                    line = joined
                    continue
                if line:
                    lines.append(line)
                line = word
                while self._width(line) > width and len(lines) <= MAX_LINES:
                    fitting = self._fitting(line, width)
                    lines.append(line[:fitting])
                    line = line[fitting:]
            lines.append(line)
            if len(lines) > MAX_LINES:
                return [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][:-1] + "…"]
        return lines

    def _fitting(self, word: str, width: float) -> int:
        """Return how many characters of a long word fit on a line. Prefer a break after punctuation near the end."""
        n = 1
        while n < len(word) and self._width(word[: n + 1]) <= width:
            n += 1
        return next((k for k in range(n, max(1, n - 8), -1) if word[k - 1] in "@._-/"), n)

    def _width(self, text: str) -> float:
        font = self.current_font
        if not isinstance(font, TTFFont):
            raise TypeError("a core font has no widths by code point")
        return float(sum(font.cw[ord(character)] for character in text) * self.font_size * 0.001)
