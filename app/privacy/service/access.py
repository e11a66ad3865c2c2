"""List of the times when other people opened a person's data. The person can read this list."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.web.pagination import Listing, Page, paginate_rows
from app.identity.access_log import AccessAction, AccessLogEntry
from app.identity.models import RoleName, User
from app.identity.sessions import Caller

#: Names for people who accessed data, by role. If a caregiver still has an account, the own name is shown instead.
WHO = {
    RoleName.ADMIN: "Administrator",
    RoleName.SUPERADMIN: "Administrator utama",
    RoleName.PENDAMPING: "Pendamping yang sudah tidak terdaftar",
}
#: Default reason of an access, by action.
REASONS = {
    AccessAction.NIK_READ: "NIK Anda dibuka bersama data akun.",
    AccessAction.PROFILE_READ: "Data akun Anda dibuka.",
    AccessAction.DELIVERIES_READ: "Daftar pengiriman kepada Anda dibuka, tanpa isinya.",
    AccessAction.NUMBER_FREED: "Nomor HP dilepas dari akun Anda.",
    AccessAction.HISTORY_READ: "Riwayat pengingat Anda dibuka dengan izin Anda.",
    AccessAction.REMINDERS_READ: "Pengingat Anda dibuka dengan izin Anda.",
    AccessAction.REMINDERS_CHANGED: "Pengingat Anda diubah dengan izin Anda.",
}


def list_own(caller: Caller, page: Page) -> Listing[dict[str, object]]:
    """Return accesses to the caller's data, latest first."""
    query = (
        sa.select(AccessLogEntry, User.nama_ktp)
        .outerjoin(User, User.id == AccessLogEntry.actor_id)
        .where(AccessLogEntry.user_id == caller.id)
        .order_by(AccessLogEntry.id.desc())
    )
    listing = paginate_rows(query, page)
    return Listing([_access(*row) for row in listing.rows], listing.total, page)


def _access(entry: AccessLogEntry, name: str | None) -> dict[str, object]:
    role = RoleName(entry.actor_role)
    who = name if role is RoleName.PENDAMPING and name else WHO[role]
    reason = entry.reason or REASONS[AccessAction(entry.action)]
    return {"at": entry.created_at, "who": who, "action": entry.action, "reason": reason}
