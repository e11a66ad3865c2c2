"""Export of reports as files. Each export adds an entry to the audit log."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa

from app.admins.service.reports import REPORTS, ReportDefinition, within
from app.core.database.session import db
from app.core.errors import NotFound
from app.core.exports import csv
from app.core.exports.streaming import Download, start_download
from app.core.exports.table import Paper
from app.core.lib.local_time import JAKARTA, today
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
    """Export a report as a file. The default range is from the day of the first record until today."""
    report = REPORTS.get(name)
    if report is None:
        raise NotFound("Laporan tidak dikenal.", code="unknown_report")
    table = report.table(within(report.moment, start, end))
    last = end or max(today(), start or today())
    first = start or min(_first_day(report), last)
    match format:  # imported only here, because the import of pdf or xlsx is slow
        case "pdf":
            from app.core.exports import pdf

            paper = Paper(report.title, first, last, report.chart, report.landscape)
            chunks = pdf.stream(table, paper)
        case "xlsx":
            from app.core.exports import xlsx

            chunks = xlsx.stream(table, title=report.sheet)
        case _:
            chunks = csv.stream(table)
    days = f"_{first}_{last}" if start or end else ""
    download = start_download(f"{name}{days}.{format}", chunks)  # slow, so start before the audit entry
    audit.record(by, audit.AuditAction.EXPORT, f"export:{name}", format=format, start=str(first), end=str(last))
    return download


def _first_day(report: ReportDefinition) -> date:
    moment = db.session.scalar(sa.select(sa.func.min(report.moment)))
    return moment.astimezone(JAKARTA).date() if moment else today()
