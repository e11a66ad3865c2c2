"""What a report on paper needs to be told, apart from the library that draws it, which takes a moment to load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.core.exports.charts import Chart

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Paper:
    """What stands on the pages beside the rows. The chart is made from the rows."""

    title: str
    start: date
    end: date
    chart: Callable[[Rows, date, date], Chart] | None = None
    landscape: bool = True
    #: Sentences above chart and table.
    remarks: Sequence[str] = ()
