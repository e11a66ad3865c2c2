"""Report for a patient's doctor: how many reminders the patient answered or missed, as a PDF."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.exports.charts import Chart
from app.core.exports.streaming import Download, start_download
from app.core.exports.table import Column, ColumnType, Paper
from app.core.lib.break_links import on_one_line
from app.identity.models import User
from app.pengingat.ledger import history
from app.pengingat.ledger.history import Adherence, SumsOfDay, SumsOfPengingat
from app.pengingat.ledger.schemas import Days
from app.pengingat.models import Pengingat
from app.pengingat.types.registry import TYPES

TITLE = "Laporan kepatuhan pengingat"
OWN_WORDS = "Pasien mencatat ini sendiri di aplikasi."
#: Mark in the chart for a week without a percentage.
NOTHING = "*"


HEADINGS = (
    Column("judul", label="Pengingat", share=4.5),
    Column("tipe", label="Jenis", share=0.9),
    Column("due", kind=ColumnType.NUMBER, label="Jadwal", share=0.9),
    Column("done", kind=ColumnType.NUMBER, label="Dilakukan", share=1.1),
    Column("skipped", kind=ColumnType.NUMBER, label="Dilewati"),
    Column("missed", kind=ColumnType.NUMBER, label="Tidak dijawab", share=1.4),
    Column("undelivered", kind=ColumnType.NUMBER, label="Tidak terkirim", share=1.4),
    Column("percent", kind=ColumnType.NUMBER, label="Persen", share=0.9),
)


def export(user_id: int, days: Days) -> Download:
    """Return the report of these days: a chart by week, and a table with one row for each reminder."""
    from app.core.exports import pdf  # import here, because the library for pdf loads slowly

    sums = history.adherence(user_id, days)
    name = db.session.scalar(sa.select(User.nama_ktp).where(User.id == user_id)) or ""
    prescriptions = _prescriptions(user_id)
    rows = [_row(each, prescriptions.get(each["id"])) for each in sums["reminders"]]
    chunks = pdf.stream_rows(HEADINGS, rows, _paper(name, sums))
    return start_download(f"kepatuhan_{sums['start']}_{sums['end']}.pdf", chunks)


def _prescriptions(user_id: int) -> dict[int | None, str]:
    """Return what a person takes or does as text, by reminder id."""
    rows = db.session.execute(sa.select(Pengingat.id, Pengingat.tipe, Pengingat.details).filter_by(user_id=user_id))
    return {id_: TYPES[tipe].prescription(details) for id_, tipe, details in rows}


def _row(sums: SumsOfPengingat, prescription: str | None) -> tuple[object, ...]:
    title = "\n".join(filter(None, (on_one_line(sums["judul"]), prescription)))
    counts = (sums["due"], sums["done"], sums["skipped"], sums["missed"], sums["undelivered"])
    return title, sums["tipe"], *counts, history.percent(sums)


def _paper(name: str, sums: Adherence) -> Paper:
    remarks = [name, OWN_WORDS, _summary(sums)]
    weeks = _by_week(sums["days"])
    if any(label.endswith(NOTHING) for label, _ in weeks):
        remarks.append(f"{NOTHING} Pada minggu itu tidak ada jadwal yang dapat dihitung.")
    chart = Chart("Dilakukan per minggu, dalam persen", weeks, upright=True, most=100)
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
        (f"{week[0]['date']:%-d/%-m}" + ("" if percent is not None else NOTHING), percent or 0.0)
        for week, percent in zip(weeks, percents, strict=True)
    ]
