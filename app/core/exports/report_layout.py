"""Definition of a PDF report. It is not in the module `pdf`, because the PDF library loads slowly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.core.exports.charts import Chart

ReportRows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Paper:
    """The parts of a PDF report besides its rows. `chart` is a function that makes the chart from the rows."""

    title: str
    start: date
    end: date
    chart: Callable[[ReportRows, date, date], Chart] | None = None
    landscape: bool = True
    #: Sentences above the chart and the table.
    remarks: Sequence[str] = ()
