"""Reports as files, each with its row in the audit log."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa

from app.admins.service.reports import REPORTS, Report, within
from app.core.database.session import autocommit
from app.core.errors import NotFound
from app.core.exports import csv
from app.core.exports.paper import Paper
from app.core.exports.streaming import MIMETYPES, Download, begun
from app.core.lib.clock import JAKARTA, today
from app.identity import audit
from app.identity.sessions import Caller


def export(
    name: str,
    by: Caller,
    *,
    format: str,  # noqa: A002  # as the query calls it
    start: date | None = None,
    end: date | None = None,
) -> Download:
    """One report; without `start` it begins with the first record there is, without `end` it goes on to today."""
    report = REPORTS.get(name)
    if report is None:
        raise NotFound("Laporan tidak dikenal.", code="unknown_report")
    table = report.table(within(report.moment, start, end))
    last = end or max(today(), start or today())
    first = start or min(_first_day(report), last)
    match format:  # the libraries of the last two take a good part of a second to load, so only those who ask wait
        case "pdf":
            from app.core.exports import pdf

            paper = Paper(report.title, first, last, report.chart, report.landscape)
            chunks = pdf.stream(table, paper)
        case "xlsx":
            from app.core.exports import xlsx

            chunks = xlsx.stream(table, title=report.sheet)
        case _:
            chunks = csv.stream(table)
    audit.record(by, audit.Action.EXPORT, f"export:{name}", format=format, start=str(first), end=str(last))
    return Download(f"{name}_{first}_{last}.{format}", MIMETYPES[format], begun(chunks))


def _first_day(report: Report) -> date:
    with autocommit() as connection:
        moment = connection.scalar(sa.select(sa.func.min(report.moment)))
    return moment.astimezone(JAKARTA).date() if moment else today()
