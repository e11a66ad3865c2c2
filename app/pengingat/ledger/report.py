"""Report of how many reminders a patient answered or missed.

The pdf report is one page for the doctor. The csv and xlsx reports have one row for each day and reminder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database.session import db
from app.core.exports import csv
from app.core.exports.charts import Chart
from app.core.exports.streaming import MIMETYPES, Download, start_eagerly
from app.core.exports.table import Column, ColumnType, Paper, Table
from app.core.lib import local_time
from app.identity.models import User
from app.pengingat.ledger import history
from app.pengingat.ledger.history import Adherence, SumsOfDay
from app.pengingat.ledger.schemas import Days
from app.pengingat.models import Pengingat
from app.pengingat.timetable import doses
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.timetable.tipe import Tipe

TITLE = "Laporan kepatuhan pengingat"
OWN_WORDS = "Pasien mencatat ini sendiri di aplikasi. Tidak ada petugas yang memeriksanya."
#: Mark in the chart for a week without a percentage.
NOTHING = "*"
#: Text lines that fit on the page below the chart.
MAX_LINES = 35
#: Height of the space between two table rows, in text lines.
ROW_LINES = 0.4
#: Maximum characters of a title in one line.
TITLE_CHARACTERS = 40
#: Maximum characters of a prescription in one line.
DOSE_CHARACTERS = 42


def export(user_id: int, *, days: Days, format: Literal["csv", "pdf", "xlsx"]) -> Download:  # noqa: A002  # the name of the query parameter
    """Return the report of these days as a download.

    The pdf file has one row for each reminder, and a chart by week. csv and xlsx have one row for each day and
    reminder.
    """
    sums = history.adherence(user_id, days)
    start, end = sums["start"], sums["end"]
    source = _sums(user_id, start, end, local_time.now())
    match format:  # import in the branches, because the libraries for pdf and xlsx load slowly
        case "pdf":
            from app.core.exports import pdf

            doses_of = _doses_of(user_id)
            rows = _fitting(sums, doses_of)
            chunks = pdf.stream(_by_reminder(source, doses_of, rows), _paper(user_id, sums, rows))
        case "xlsx":
            from app.core.exports import xlsx

            chunks = xlsx.stream(_by_day(source), title="Kepatuhan")
        case _:
            chunks = csv.stream(_by_day(source))
    return Download(f"kepatuhan_{start}_{end}.{format}", MIMETYPES[format], start_eagerly(chunks))


# --- the rows -------------------------------------------------------------------------------------------------------


def _sums(user_id: int, start: date, end: date, now: datetime) -> sa.Subquery:
    """Return a query of counts by day and reminder, with the present title of each reminder."""
    kept = sa.union_all(*history.daily_sums(user_id, start, end, now)).subquery("kept")
    titles = sa.outerjoin(kept, Pengingat, Pengingat.id == kept.c.reminder_id)
    columns: list[sa.ColumnElement[Any]] = [
        kept.c.day,
        sa.func.coalesce(Pengingat.judul, kept.c.judul).label("judul"),
        sa.func.coalesce(Pengingat.tipe, kept.c.tipe).label("tipe"),
        *(kept.c[name] for name in history.COUNTS),
    ]
    return sa.select(*columns).select_from(titles).subquery("sums")


def _doses_of(user_id: int) -> dict[str, str]:
    """Return the prescription lines of a person's medicines, by title of the reminder."""
    columns = (Pengingat.judul, Pengingat.timezone, Pengingat.details, Pengingat.plan)
    medicines = sa.select(*columns).where(Pengingat.user_id == user_id, Pengingat.tipe == Tipe.OBAT)
    lines: dict[str, list[str]] = defaultdict(list)
    for judul, timezone, details, plan in db.session.execute(medicines.order_by(Pengingat.id)):
        schedule = Schedule.from_json(plan, ZoneInfo(timezone))
        if (line := doses.prescription(details, schedule)) not in lines[judul]:
            lines[judul].append(line)
    return {judul: "\n".join(found) for judul, found in lines.items()}


def _titles(sums: Adherence) -> dict[tuple[str, str], int]:
    """Return the number of occurrences by title and type of reminder. The highest number comes first."""
    due: dict[tuple[str, str], int] = defaultdict(int)
    for row in sums["reminders"]:
        due[row["judul"], row["tipe"]] += row["due"]
    return dict(sorted(due.items(), key=lambda item: (-item[1], item[0])))


def _fitting(sums: Adherence, doses_of: Mapping[str, str]) -> int:
    """Return how many table rows fit on the page."""
    room, count = float(MAX_LINES), 0
    for judul, tipe in _titles(sums):
        taken = doses_of.get(judul, "").splitlines() if tipe == Tipe.OBAT else []
        room -= ROW_LINES + 1 + sum(1 + len(line) // DOSE_CHARACTERS for line in taken)
        if room < 0:
            break
        count += 1
    return max(count, 1)


def _by_reminder(sums: sa.Subquery, doses_of: Mapping[str, str], count: int) -> Table:
    due = sa.func.sum(sums.c.due)
    cut = sa.func.left(sums.c.judul, TITLE_CHARACTERS - 1).concat("…")
    title = sa.case((sa.func.length(sums.c.judul) <= TITLE_CHARACTERS, sums.c.judul), else_=cut)
    taken = sa.cast(sa.literal(dict(doses_of), JSONB), JSONB)[sums.c.judul].astext
    shown = sa.case((sums.c.tipe == Tipe.OBAT, sa.func.concat_ws("\n", title, taken)), else_=title)
    _, *columns = _columns(sums)
    keys = (sums.c.judul, sums.c.tipe)
    # Limit the reminders in the subquery `first` and not in `rows`, because the export sets its own limit on `rows`.
    first = sa.select(*keys).group_by(*keys).order_by(due.desc(), *keys).limit(count)
    rows = sa.select(sums.c.judul).where(sa.tuple_(*keys).in_(first)).group_by(*keys)
    table = (Column("judul", shown, label="Pengingat", share=4.5), *columns)
    return Table(table, rows.order_by(due.desc(), *keys))


def _by_day(sums: sa.Subquery) -> Table:
    day = Column("date", sums.c.day, ColumnType.DAY, "Tanggal")
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
        Column("tipe", sums.c.tipe, label="Jenis", share=0.9),
        Column("due", sa.func.sum(sums.c.due), ColumnType.NUMBER, "Jadwal", 0.9),
        Column("done", done, ColumnType.NUMBER, "Dilakukan", 1.1),
        Column("skipped", skipped, ColumnType.NUMBER, "Dilewati"),
        Column("missed", missed, ColumnType.NUMBER, "Tidak dijawab", 1.4),
        Column("undelivered", sa.func.sum(sums.c.undelivered), ColumnType.NUMBER, "Tidak terkirim", 1.4),
        Column("percent", percent, ColumnType.NUMBER, "Persen", 0.9),
    )


# --- the page -------------------------------------------------------------------------------------------------------


def _paper(user_id: int, sums: Adherence, rows: int) -> Paper:
    name = db.session.scalar(sa.select(User.nama_ktp).where(User.id == user_id)) or ""
    remarks = [name, OWN_WORDS, _summary(sums)]
    if (more := len(_titles(sums)) - rows) > 0:
        remarks.append(f"Halaman ini memuat {rows} pengingat. {more} pengingat lain ikut dihitung di grafik.")
    weeks = _by_week(sums["days"])
    if any(label.endswith(NOTHING) for label, _ in weeks):
        remarks.append(f"{NOTHING} Pada minggu itu tidak ada jadwal yang dapat dihitung.")
    chart = Chart("Dilakukan per minggu, dalam persen", weeks, upright=True)
    return Paper(TITLE, sums["start"], sums["end"], chart=lambda *_: chart, landscape=False, remarks=remarks)


def _summary(sums: Adherence) -> str:
    if sums["percent"] is None:
        return "Belum ada jadwal yang dapat dihitung."
    share = f"{sums['percent']:g}".replace(".", ",")
    text = f"{share}% jadwal dijalankan (dari yang terkirim dan sudah lewat)."
    if sums["undelivered"]:
        text += f" {sums['undelivered']} jadwal tidak terkirim karena gangguan kami, dan tidak dihitung."
    return text


def _by_week(days: list[SumsOfDay]) -> list[tuple[str, float]]:
    """Return the percentage of done occurrences in each week. The label is the first day of the week.

    A week begins on Monday or on the first day of the report. A week without a percentage is marked with `NOTHING`,
    because its empty column would look like 0 percent.
    """
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
