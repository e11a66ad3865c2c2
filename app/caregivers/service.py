"""Links between caregivers and patients, made by the caregiver or an administrator, cut by either side."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.caregivers.models import CaregiverLink
from app.core.database.session import db, get_or_404
from app.core.errors import BadRequest, NotFound
from app.core.web.pagination import Listing, Page, paginate, paginate_rows
from app.identity import users
from app.identity.models import RoleName, User


def link(caregiver_id: int, patient_id: int) -> tuple[CaregiverLink, bool]:
    """The link between a pendamping and a pasien, and whether it is new."""
    if caregiver_id == patient_id:
        raise BadRequest("Pendamping dan pasien harus dua orang yang berbeda.", code="same_person")
    _check_role(caregiver_id, RoleName.PENDAMPING)
    _check_role(patient_id, RoleName.PASIEN)
    made = db.session.scalar(
        insert(CaregiverLink)
        .values(caregiver_id=caregiver_id, patient_id=patient_id)
        .on_conflict_do_nothing()
        .returning(CaregiverLink)
    )
    if made is not None:
        return made, True
    found = db.session.scalars(
        sa.select(CaregiverLink).where(
            CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == patient_id
        )
    )
    return found.one(), False


def unlink(caregiver_id: int, patient_id: int) -> None:
    _delete(CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == patient_id)


def cut(caller_id: int, other_id: int) -> None:
    """Cut the caller's link with somebody, from whichever side the caller is on."""
    _delete(
        sa.or_(
            sa.and_(CaregiverLink.caregiver_id == caller_id, CaregiverLink.patient_id == other_id),
            sa.and_(CaregiverLink.patient_id == caller_id, CaregiverLink.caregiver_id == other_id),
        )
    )


def patients_of(caregiver_id: int, page: Page) -> Listing[Any]:
    return paginate_rows(_linked(CaregiverLink.patient_id, CaregiverLink.caregiver_id == caregiver_id), page)


def caregivers_of(patient_id: int, page: Page) -> Listing[Any]:
    return paginate_rows(_linked(CaregiverLink.caregiver_id, CaregiverLink.patient_id == patient_id), page)


def people_with_role(role: RoleName, page: Page) -> Listing[User]:
    return paginate(users.with_role(role).options(sa.orm.lazyload(User.roles)), page)


def _linked(other: sa.orm.InstrumentedAttribute[int], whose: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """The people at the other end, in one statement, the latest link first."""
    return (
        sa.select(
            User.id,
            User.username,
            User.nama_ktp,
            User.image,
            User.domicile,
            CaregiverLink.id.label("link_id"),
            CaregiverLink.created_at.label("linked_at"),
        )
        .join(CaregiverLink, other == User.id)
        .where(whose)
        .order_by(CaregiverLink.created_at.desc(), CaregiverLink.id.desc())
    )


def _check_role(user_id: int, role: RoleName) -> None:
    user = get_or_404(User, user_id, "Pengguna tidak ditemukan.")
    if role not in user.role_names:
        raise BadRequest(f"Pengguna {user_id} bukan {role}.", code="role_mismatch")


def _delete(*which: sa.ColumnElement[bool]) -> None:
    if db.session.scalar(sa.delete(CaregiverLink).where(*which).returning(CaregiverLink.id)) is None:
        raise NotFound("Hubungan pendamping dan pasien tidak ditemukan.")
