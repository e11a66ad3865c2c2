"""What a patient takes to the doctor: how they kept to their reminders, on one page, or by day for a spreadsheet."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

import sqlalchemy as sa

from app.core.database.session import current_connection
from app.core.exports import csv
from app.core.exports.charts import Chart
from app.core.exports.paper import Paper
from app.core.exports.streaming import MIMETYPES, Download, begun
from app.core.exports.table import Column, Kind, Table
from app.core.lib import clock
from app.identity.models import User
from app.pengingat.ledger import history
from app.pengingat.ledger.history import Adherence, SumsOfDay
from app.pengingat.ledger.schemas import Days
from app.pengingat.models import Pengingat

TITLE = "Laporan kepatuhan pengingat"
OWN_WORDS = "Pasien mencatat ini sendiri di aplikasi. Tidak ada petugas yang memeriksanya."
#: Marks a week without anything to divide.
NOTHING = "*"
#: Reminders that fit on the page below the chart, and characters of a title in one line of it.
MOST_ROWS = 25
TITLE_CHARACTERS = 40


def export(user_id: int, *, days: Days, format: Literal["csv", "pdf", "xlsx"]) -> Download:  # noqa: A002  # as the query calls it
    """The report of some days: as PDF by reminder with a chart by week, else by day and reminder."""
    sums = history.adherence(user_id, days)
    start, end = sums["start"], sums["end"]
    source = _sums(user_id, start, end, clock.now())
    match format:  # the libraries of the last two take a good part of a second to load, so only those who ask wait
        case "pdf":
            from app.core.exports import pdf

            chunks = pdf.stream(_by_reminder(source), _paper(user_id, sums, start, end))
        case "xlsx":
            from app.core.exports import xlsx

            chunks = xlsx.stream(_by_day(source), title="Kepatuhan")
        case _:
            chunks = csv.stream(_by_day(source))
    return Download(f"kepatuhan_{start}_{end}.{format}", MIMETYPES[format], begun(chunks))


# --- the rows -------------------------------------------------------------------------------------------------------


def _sums(user_id: int, start: date, end: date, now: datetime) -> sa.Subquery:
    """Sums by day and reminder, each under the title that the reminder has now."""
    kept = sa.union_all(*history.daily_sums(user_id, start, end, now)).subquery("kept")
    titles = sa.outerjoin(kept, Pengingat, Pengingat.id == kept.c.reminder_id)
    columns: list[sa.ColumnElement[Any]] = [
        kept.c.day,
        sa.func.coalesce(Pengingat.judul, kept.c.judul).label("judul"),
        sa.func.coalesce(Pengingat.tipe, kept.c.tipe).label("tipe"),
        *(kept.c[name] for name in history.COUNTS),
    ]
    return sa.select(*columns).select_from(titles).subquery("sums")


def _by_reminder(sums: sa.Subquery) -> Table:
    due = sa.func.sum(sums.c.due)
    cut = sa.func.left(sums.c.judul, TITLE_CHARACTERS - 1).concat("…")
    shown = sa.case((sa.func.length(sums.c.judul) <= TITLE_CHARACTERS, sums.c.judul), else_=cut)
    _, *columns = _columns(sums)
    keys = (sums.c.judul, sums.c.tipe)
    # Chosen below the rows, for whoever draws them sets a limit of their own.
    first = sa.select(*keys).group_by(*keys).order_by(due.desc(), *keys).limit(MOST_ROWS)
    rows = sa.select(sums.c.judul).where(sa.tuple_(*keys).in_(first)).group_by(*keys)
    table = (Column("judul", shown, label="Pengingat", share=4.5), *columns)
    return Table(table, rows.order_by(due.desc(), *keys))


def _by_day(sums: sa.Subquery) -> Table:
    day = Column("date", sums.c.day, Kind.DAY, "Tanggal")
    rows = sa.select(sums.c.judul).group_by(sums.c.day, sums.c.judul, sums.c.tipe)
    return Table((day, *_columns(sums)), rows.order_by(sums.c.day, sums.c.judul, sums.c.tipe))


def _columns(sums: sa.Subquery) -> tuple[Column, ...]:
    done, skipped, missed = (
        sa.cast(sa.func.sum(sums.c[name]), sa.BigInteger) for name in ("done", "skipped", "missed")
    )
    judged = sa.func.nullif(done + skipped + missed, 0, type_=sa.BigInteger)
    percent = sa.cast(history.share(done, judged), sa.Numeric(4, 1))
    return (
        Column("judul", sums.c.judul, label="Pengingat", share=3),
        Column("tipe", sums.c.tipe, Kind.NAME, "Jenis", 0.9),
        Column("due", sa.func.sum(sums.c.due), Kind.NUMBER, "Jadwal", 0.9),
        Column("done", done, Kind.NUMBER, "Dilakukan", 1.1),
        Column("skipped", skipped, Kind.NUMBER, "Dilewati"),
        Column("missed", missed, Kind.NUMBER, "Tidak dijawab", 1.4),
        Column("undelivered", sa.func.sum(sums.c.undelivered), Kind.NUMBER, "Tidak terkirim", 1.4),
        Column("percent", percent, Kind.NUMBER, "Persen", 0.9),
    )


# --- the page -------------------------------------------------------------------------------------------------------


def _paper(user_id: int, sums: Adherence, start: date, end: date) -> Paper:
    with current_connection() as connection:
        name = connection.scalar(sa.select(User.nama_ktp).where(User.id == user_id)) or ""
    remarks = [name, OWN_WORDS, _summary(sums)]
    if (more := len(sums["reminders"]) - MOST_ROWS) > 0:
        remarks.append(f"Halaman ini memuat {MOST_ROWS} pengingat. {more} pengingat lain ikut dihitung di grafik.")
    weeks = _by_week(sums["days"])
    if any(label.endswith(NOTHING) for label, _ in weeks):
        remarks.append(f"{NOTHING} Pada minggu itu tidak ada jadwal yang dapat dihitung.")
    chart = Chart("Dilakukan per minggu, dalam persen", weeks, upright=True)
    return Paper(TITLE, start, end, chart=lambda *_: chart, landscape=False, remarks=remarks)


def _summary(sums: Adherence) -> str:
    if sums["percent"] is None:
        return "Belum ada jadwal yang dapat dihitung."
    share = f"{sums['percent']:g}".replace(".", ",")
    text = f"Dilakukan {share}% dari jadwal yang terkirim dan sudah lewat."
    if sums["undelivered"]:
        text += f" {sums['undelivered']} jadwal tidak terkirim karena gangguan kami, dan tidak dihitung."
    return text


def _by_week(days: list[SumsOfDay]) -> list[tuple[str, float]]:
    """The percentage of each week, under the day that the week begins with: a Monday, or the report's first day. A week
    that has none is marked, for its empty column would say that nothing was done."""
    weeks: list[list[SumsOfDay]] = []
    for row in days:
        if not weeks or row["date"].weekday() == 0:
            weeks.append([])
        weeks[-1].append(row)
    percents = [history.percent(history.total(week)) for week in weeks]
    return [
        (_short(week[0]["date"]) + ("" if percent is not None else NOTHING), percent or 0.0)
        for week, percent in zip(weeks, percents, strict=True)
    ]


def _short(day: date) -> str:
    return f"{day.day}/{day.month}"
