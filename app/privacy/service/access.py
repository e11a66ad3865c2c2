"""List of the times when other people opened a person's data. The person can read this list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from app.core.web.pagination import Listing, Page, paginate_rows
from app.identity import dependents
from app.identity.access_log import AccessAction, AccessLogEntry, BulkAccess, Covers
from app.identity.models import RoleName, User
from app.identity.sessions import Caller
from app.logs.models import ActivityLog

#: Names for people who accessed data, by role. The key None stands for a command that the operator of the service ran.
#: If a caregiver still has an account, the caregiver's own name is shown instead.
WHO = {
    RoleName.ADMIN: "Administrator",
    RoleName.SUPERADMIN: "Administrator utama",
    RoleName.PENDAMPING: "Pendamping yang sudah tidak terdaftar",
    None: "Pengelola layanan",
}
#: Default reason of an access, by action.
REASONS = {
    AccessAction.NIK_READ: "NIK Anda dibuka bersama data akun.",
    AccessAction.PROFILE_READ: "Data akun Anda dibuka.",
    AccessAction.LISTED: "Data kontak Anda tampil di sebuah daftar.",
    AccessAction.MISSED_LISTED: "Anda tampil di daftar orang yang beberapa hari melewatkan obat.",
    AccessAction.EXPORT: "Data Anda termasuk dalam berkas yang diunduh.",
    AccessAction.ACTIVITY_READ: "Aktivitas terakhir Anda tampil di ringkasan.",
    AccessAction.DELIVERIES_READ: "Daftar pengiriman kepada Anda dibuka, tanpa isinya.",
    AccessAction.NUMBER_FREED: "Nomor HP dilepas dari akun Anda.",
    AccessAction.PSEUDONYM_LIFTED: "Nama samaran Anda dibuka oleh moderator.",
    AccessAction.HISTORY_READ: "Riwayat pengingat Anda dibuka dengan izin Anda.",
    AccessAction.REMINDERS_READ: "Pengingat Anda dibuka dengan izin Anda.",
    AccessAction.REMINDERS_CHANGED: "Pengingat Anda diubah dengan izin Anda.",
    AccessAction.DATA_COPIED: "Salinan data Anda diminta atau diunduh.",
    AccessAction.ACCESS_READ: "Catatan akses Anda dibuka.",
    AccessAction.CONSENTS_READ: "Persetujuan Anda dibuka.",
    AccessAction.CONSENTS_CHANGED: "Persetujuan Anda diubah.",
    AccessAction.ACCOUNT_DELETED: "Akun Anda dihapus, dan masih dapat dipulihkan selama 7 hari.",
    AccessAction.ACCOUNT_RESTORED: "Penghapusan akun Anda dibatalkan.",
}


@dataclass(frozen=True)
class Access:
    at: datetime
    who: str
    action: str
    reason: str


def list_own(caller: Caller, patient_id: int | None, page: Page) -> Listing[Access]:
    """Return accesses to the data of the caller or of their dependent, latest first.

    All accesses on one day by the same kind of list or export are combined into one entry.
    """
    listing = paginate_rows(_accesses(dependents.patient_id_of(caller, patient_id, AccessAction.ACCESS_READ)), page)
    return Listing([_access(row) for row in listing.rows], listing.total, page)


def _access(row: sa.Row[*tuple[object, ...]]) -> Access:
    role = RoleName(row.role) if row.role else None
    who = row.name if role is RoleName.PENDAMPING and row.name else WHO[role]
    return Access(row.at, who, row.action, row.reason or REASONS[AccessAction(row.action)])


def _accesses(user_id: int) -> sa.Select[*tuple[object, ...]]:
    """Return a query for all accesses to a person's data.

    An access may concern a group of people, for example an export. The query includes such an access if the person
    belongs to the group.
    """
    own = sa.select(
        AccessLogEntry.created_at.label("at"),
        AccessLogEntry.action,
        AccessLogEntry.actor_role.label("role"),
        AccessLogEntry.actor_id,
        AccessLogEntry.reason,
        sa.func.coalesce(sa.cast(AccessLogEntry.day, sa.Text), sa.cast(AccessLogEntry.id, sa.Text)).label("entry"),
    ).where(AccessLogEntry.user_id == user_id)
    bulk = (
        sa.select(
            BulkAccess.created_at,
            BulkAccess.action,
            BulkAccess.actor_role,
            sa.null(),
            sa.null(),
            sa.cast(BulkAccess.day, sa.Text),
        )
        .join(User, User.id == user_id)
        .where(BulkAccess.created_at >= User.created_at, _covers(user_id))
    )
    looks = sa.union_all(own, bulk).subquery("looks")
    lines = (
        sa.select(
            sa.func.min(looks.c.at).label("at"),
            looks.c.action,
            looks.c.entry,
            sa.func.min(looks.c.role).label("role"),
            sa.func.min(looks.c.actor_id).label("actor_id"),
            sa.func.min(looks.c.reason).label("reason"),
        )
        .group_by(looks.c.action, looks.c.entry)
        .subquery("lines")
    )
    return (
        sa.select(lines.c.at, lines.c.action, lines.c.role, lines.c.reason, User.nama_ktp.label("name"))
        .outerjoin(User, User.id == lines.c.actor_id)
        .order_by(lines.c.at.desc(), lines.c.action, lines.c.entry)
    )


def _covers(user_id: int) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if an access to many people's data included this person."""
    since = sa.func.coalesce(BulkAccess.since, sa.literal_column("'-infinity'::timestamptz"))
    until = sa.func.coalesce(BulkAccess.until, sa.literal_column("'infinity'::timestamptz"))
    was_active = sa.exists().where(
        ActivityLog.user_id == user_id,
        ActivityLog.created_at >= since,
        ActivityLog.created_at < sa.func.least(until, BulkAccess.created_at),
    )
    return sa.case(
        (BulkAccess.covers == Covers.EVERYBODY, sa.true()),
        (BulkAccess.covers == Covers.REGISTERED, sa.and_(User.created_at >= since, User.created_at < until)),
        else_=was_active,
    )
