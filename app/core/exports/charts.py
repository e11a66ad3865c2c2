"""Charts of the PDF exports, drawn with the lines and rectangles of fpdf2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fpdf import FPDF

Color = tuple[int, int, int]

INK = (31, 41, 55)
FAINT = (107, 114, 128)
RULE = (209, 213, 219)
ACCENT = (15, 118, 110)
TINT = (204, 232, 228)

#: Values of `align` in `write`: the part of the text's width that is left of `x`.
LEFT, CENTER, RIGHT = 0.0, 0.5, 1.0

ROW_MM = 5.2
LABEL_MM = 46
WIDEST_COLUMN_MM = 12
COLUMNS_MM = 46


@dataclass(frozen=True)
class Chart:
    """A chart of labelled values: horizontal bars, or columns if `upright`. Use columns for values by time."""

    title: str
    values: Sequence[tuple[str, float]]
    upright: bool = False
    #: Upper limit of the axis of an upright chart. None: a round number above the largest value.
    most: int | None = None

    def draw(self, pdf: FPDF, x: float, y: float, width: float) -> float:
        """Draw the chart and return the position of its lower edge."""
        write(pdf, x, y + 4, self.title, style="B", size=9)
        if self.upright:
            return _columns(pdf, self.values, self.most, x, y + 9, width)
        return _bars(pdf, self.values, x, y + 8, width)


def write(
    pdf: FPDF,
    x: float,
    y: float,
    text: str,
    *,
    style: str = "",
    size: float = 7.5,
    color: Color = INK,
    align: float = LEFT,
) -> None:
    """Write one line of text with its baseline at `y`."""
    pdf.set_font(style=style, size=size)
    pdf.set_text_color(*color)
    pdf.text(x - align * pdf.get_string_width(text) if align else x, y, text)


def number(value: float) -> str:
    """Return the number in Indonesian notation: `1.234` for 1234."""
    return f"{value:,.0f}".replace(",", ".")


def _bars(pdf: FPDF, values: Sequence[tuple[str, float]], x: float, y: float, width: float) -> float:
    most = max((value for _, value in values), default=0) or 1
    total = sum(value for _, value in values) or 1
    left, bottom = x + LABEL_MM, y + len(values) * ROW_MM
    pdf.set_fill_color(*ACCENT)
    for n, (label, value) in enumerate(values):
        top = y + n * ROW_MM
        length = max(0.4, (width - LABEL_MM - 26) * value / most)
        share = f"{100 * value / total:.1f}".replace(".", ",")
        write(pdf, left - 2, top + 3.4, label, align=RIGHT)
        pdf.rect(left, top + 0.7, length, ROW_MM - 1.6, style="F")
        write(pdf, left + length + 1.5, top + 3.4, f"{number(value)} ({share}%)", color=FAINT)
    pdf.set_draw_color(*RULE)
    pdf.set_line_width(0.2)
    pdf.line(left, y, left, bottom)
    return bottom + 3


def _columns(
    pdf: FPDF, values: Sequence[tuple[str, float]], most: int | None, x: float, y: float, width: float
) -> float:
    top = most or _round_up(max((value for _, value in values), default=0))
    left, bottom = x + 12, y + COLUMNS_MM
    pdf.set_draw_color(*RULE)
    pdf.set_line_width(0.2)
    for step in range(5):
        height = bottom - (COLUMNS_MM - 2) * step / 4
        pdf.line(left, height, x + width, height)
        write(pdf, left - 2, height + 1, number(top * step / 4), size=7, color=FAINT, align=RIGHT)
    slot = (width - 12) / max(1, len(values))
    every = ceil(max((pdf.get_string_width(label) for label, _ in values), default=0) / slot + 0.2)
    column = min(slot * 0.7, WIDEST_COLUMN_MM)  # if there are few columns, limit their width
    pdf.set_fill_color(*ACCENT)
    for n, (label, value) in enumerate(values):
        center, height = left + slot * (n + 0.5), (COLUMNS_MM - 2) * value / top
        if value:
            pdf.rect(center - column / 2, bottom - height, column, height, style="F")
        if n % every == 0:
            write(pdf, center, bottom + 4, label, size=7, color=FAINT, align=CENTER)
    return bottom + 7


def _round_up(value: float) -> int:
    """Return the upper limit of the axis: a round multiple of 4, because the axis has four equal parts."""
    if value <= 4:
        return 4
    unit = 10.0 ** floor(log10(value))
    rounds = (round(unit * factor) for factor in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12))
    return next(top for top in rounds if top >= value and top % 4 == 0)
