"""Charts of the PDF exports, drawn with the lines and rectangles of fpdf2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fpdf import FPDF

INK = (31, 41, 55)
FAINT = (107, 114, 128)
RULE = (209, 213, 219)
ACCENT = (15, 118, 110)
TINT = (204, 232, 228)

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

    @property
    def height(self) -> float:
        return 9 + (COLUMNS_MM + 7 if self.upright else ROW_MM * len(self.values) + 2)

    def draw(self, pdf: FPDF, x: float, y: float, width: float) -> None:
        pdf.set_font(style="B", size=9)
        pdf.set_text_color(*INK)
        pdf.text(x, y + 4, self.title)
        if self.upright:
            _columns(pdf, self.values, self.most, x, y + 9, width)
        else:
            _bars(pdf, self.values, x, y + 8, width)


def number(value: float) -> str:
    """Return the number in Indonesian notation: `1.234` for 1234."""
    return f"{value:,.0f}".replace(",", ".")


def _bars(pdf: FPDF, values: Sequence[tuple[str, float]], x: float, y: float, width: float) -> None:
    most = max((value for _, value in values), default=0) or 1
    total = sum(value for _, value in values) or 1
    room = width - LABEL_MM - 26
    for n, (label, value) in enumerate(values):
        top = y + n * ROW_MM
        pdf.set_font(style="", size=7.5)
        pdf.set_text_color(*INK)
        pdf.text(x + LABEL_MM - 2 - pdf.get_string_width(label), top + 3.4, label)
        pdf.set_fill_color(*ACCENT)
        length = max(0.4, room * value / most)
        pdf.rect(x + LABEL_MM, top + 0.7, length, ROW_MM - 1.6, style="F", round_corners=False)
        pdf.set_text_color(*FAINT)
        share = f"{100 * value / total:.1f}".replace(".", ",")
        pdf.text(x + LABEL_MM + length + 1.5, top + 3.4, f"{number(value)} ({share}%)")
    pdf.set_draw_color(*RULE)
    pdf.set_line_width(0.2)
    pdf.line(x + LABEL_MM, y, x + LABEL_MM, y + len(values) * ROW_MM)


def _columns(
    pdf: FPDF, values: Sequence[tuple[str, float]], most: int | None, x: float, y: float, width: float
) -> None:
    top = most or _round_up(max((value for _, value in values), default=0))
    left, bottom = x + 12, y + COLUMNS_MM
    pdf.set_font(style="", size=7)
    pdf.set_line_width(0.2)
    for step in range(5):
        height = bottom - (COLUMNS_MM - 2) * step / 4
        pdf.set_draw_color(*RULE)
        pdf.line(left, height, x + width, height)
        text = number(top * step / 4)
        pdf.set_text_color(*FAINT)
        pdf.text(left - 2 - pdf.get_string_width(text), height + 1, text)
    slot = (width - 12) / max(1, len(values))
    every = ceil(max((pdf.get_string_width(label) for label, _ in values), default=0) / slot + 0.2)
    for n, (label, value) in enumerate(values):
        height = (COLUMNS_MM - 2) * value / top
        pdf.set_fill_color(*ACCENT)
        if value:
            column = min(slot * 0.7, WIDEST_COLUMN_MM)  # if there are few columns, limit their width
            pdf.rect(left + slot * (n + 0.5) - column / 2, bottom - height, column, height, style="F")
        if n % every == 0:
            pdf.text(left + slot * (n + 0.5) - pdf.get_string_width(label) / 2, bottom + 4, label)


def _round_up(value: float) -> int:
    """Return the upper limit of the axis: a round multiple of 4, because the axis has four equal parts."""
    if value <= 4:
        return 4
    unit = 10.0 ** floor(log10(value))
    rounds = (round(unit * factor) for factor in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12))
    return next(top for top in rounds if top >= value and top % 4 == 0)
