"""Reports that can be exported. A report has columns, rows within a range of days, and a chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.exports.charts import Chart
from app.core.exports.table import Column, ColumnType, ReportRows, Table
from app.core.lib.local_time import JAKARTA, MONTHS, midnight
from app.identity.models import Role, RoleName, User, user_roles
from app.logs.models import ActivityLog

UNKNOWN_PROVINCE = "Tidak diisi"


@dataclass(frozen=True)
class ReportDefinition:
    """A report. An export contains the rows whose column `moment` is within the requested range of days."""

    title: str
    sheet: str
    moment: orm.InstrumentedAttribute[datetime]
    table: Callable[[sa.ColumnElement[bool]], Table]
    chart: Callable[[ReportRows, date, date], Chart] | None = None
    landscape: bool = True


def within(
    moment: sa.ColumnElement[datetime] | orm.InstrumentedAttribute[datetime], start: date | None, end: date | None
) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for a moment from the day `start` to the end of the day `end` in Jakarta.

    A bound that is None does not limit the moment.
    """
    bounds: list[sa.ColumnElement[bool]] = []
    if start is not None:
        bounds.append(moment >= midnight(start))
    if end is not None and end < date.max:
        bounds.append(moment < midnight(end + timedelta(days=1)))
    return sa.and_(sa.true(), *bounds)


# --- people ---------------------------------------------------------------------------------------------------------

_ROLES = (
    sa.select(user_roles.c.user_id, sa.func.string_agg(Role.name, sa.literal(", ")).label("names"))
    .join(Role, Role.id == user_roles.c.role_id)
    .group_by(user_roles.c.user_id)
    .subquery("held")
)

_PERSON = (
    Column("id", User.id.expression, ColumnType.NUMBER, "ID", 0.7),
    Column("username", User.username.expression, label="Nama pengguna", share=1.5),
    Column("nama_ktp", User.nama_ktp.expression, label="Nama", share=2.2),
    Column("email", User.email.expression, label="E-mail", share=2.4),
    Column("nomor_hp", User.nomor_hp.expression, label="Nomor HP", share=1.5),
    Column("roles", _ROLES.c.names, label="Peran", share=1.3),
)
_DOMICILE = Column("domicile", User.domicile.expression, label="Domisili", share=1.5)
_ACCOUNT_STATE = (
    Column("is_verified", User.is_verified.expression, ColumnType.FLAG, "Terverifikasi", 1.1),
    Column("created_at", User.created_at.expression, ColumnType.TIME, "Terdaftar", 1.5),
)


def _users(when: sa.ColumnElement[bool]) -> Table:
    source = sa.select(User.id).outerjoin(_ROLES, _ROLES.c.user_id == User.id).where(when)
    return Table((*_PERSON, _DOMICILE, *_ACCOUNT_STATE), source.order_by(User.created_at.desc(), User.id.desc()))


def _admins(when: sa.ColumnElement[bool]) -> Table:
    is_admin = sa.exists().where(
        user_roles.c.user_id == User.id, user_roles.c.role_id == Role.id, Role.name == RoleName.ADMIN
    )
    source = sa.select(User.id).outerjoin(_ROLES, _ROLES.c.user_id == User.id).where(when, is_admin)
    return Table((*_PERSON, *_ACCOUNT_STATE), source.order_by(User.created_at.desc(), User.id.desc()))


def _registrations(rows: ReportRows, start: date, end: date) -> Chart:
    """Return a chart of registrations: by day, week or month, depending on the period's length."""
    days = [row[-1].astimezone(JAKARTA).date() for row in rows]
    start, end = min([start, *days]), max([end, *days])
    span = (end - start).days + 1
    if span <= 45:
        steps = [start + timedelta(days=n) for n in range(span)]
        registered = Counter(days)
        values = [(f"{day.day}/{day.month}", float(registered[day])) for day in steps]
        return Chart("Pendaftaran per hari", values, upright=True)
    if span <= 7 * 45:
        registered = Counter(start + timedelta(days=(day - start).days // 7 * 7) for day in days)
        steps = [start + timedelta(days=n) for n in range(0, span, 7)]
        values = [(f"{day.day}/{day.month}", float(registered[day])) for day in steps]
        return Chart("Pendaftaran per minggu", values, upright=True)
    months = range(start.year * 12 + start.month - 1, end.year * 12 + end.month)
    by_month = Counter(day.year * 12 + day.month - 1 for day in days)
    values = [(f"{MONTHS[month % 12][:3]} {month // 12}", float(by_month[month])) for month in months]
    return Chart("Pendaftaran per bulan", values[-60:], upright=True)


# --- domicile -------------------------------------------------------------------------------------------------------


def _domicile(when: sa.ColumnElement[bool]) -> Table:
    count = sa.func.count()
    percent = sa.func.round(100.0 * count / sa.func.sum(count).over(), 2)
    columns = (
        Column(
            "province", sa.func.coalesce(User.domicile, sa.literal_column(f"'{UNKNOWN_PROVINCE}'")), label="Provinsi",
            share=3,
        ),
        Column("count", count, ColumnType.NUMBER, "Jumlah"),
        Column("percent", percent, ColumnType.NUMBER, "Persen"),
    )  # fmt: skip
    source = sa.select(User.domicile).where(when).group_by(User.domicile)
    return Table(columns, source.order_by(User.domicile.is_(None), count.desc(), User.domicile))


def _provinces(rows: ReportRows, _start: date, _end: date) -> Chart:
    return Chart("Pengguna per provinsi", [(row[0], float(row[1])) for row in rows])


# --- activity -------------------------------------------------------------------------------------------------------

_ACTIVITY = (
    Column("created_at", ActivityLog.created_at.expression, ColumnType.TIME, "Waktu", 1.3),
    Column("log", ActivityLog.log.expression, label="Log", share=0.6),
    Column("user", User.username.expression, label="Pengguna", share=1.3),
    Column("event_type", ActivityLog.event_type.expression, label="Jenis", share=1.1),
    Column("event_name", ActivityLog.event_name.expression, label="Peristiwa", share=1.6),
    Column("screen_name", ActivityLog.screen_name.expression, label="Layar", share=1.3),
    Column("activity_description", ActivityLog.activity_description.expression, label="Keterangan", share=3),
    Column("session_id", ActivityLog.session_id.expression, label="Sesi", share=1.6),
    Column("ip", sa.func.coalesce(ActivityLog.user_ip, ActivityLog.remote_ip), label="IP", share=1.2),
)


def _activity(when: sa.ColumnElement[bool]) -> Table:
    source = sa.select(ActivityLog.id).outerjoin(User, User.id == ActivityLog.user_id).where(when)
    return Table(_ACTIVITY, source.order_by(ActivityLog.created_at.desc(), ActivityLog.id.desc()))


REPORTS: dict[str, ReportDefinition] = {
    "users": ReportDefinition("Laporan Pengguna", "Pengguna", User.created_at, _users, _registrations),
    "admins": ReportDefinition("Laporan Administrator", "Administrator", User.created_at, _admins),
    "activity-logs": ReportDefinition("Laporan Log Aktivitas", "Log Aktivitas", ActivityLog.created_at, _activity),
    "domicile": ReportDefinition(
        "Laporan Domisili", "Domisili", User.created_at, _domicile, _provinces, landscape=False
    ),
}
