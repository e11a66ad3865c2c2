"""Links between caregivers and patients, for administrators."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from app.caregivers import service as caregivers
from app.core.web.pagination import Listing, Search, containing, paginate_rows
from app.identity import audit
from app.identity.care import CaregiverLink
from app.identity.models import User
from app.identity.sessions import Caller

#: Row of a link: id, caregiver_id, patient_id, created_at, caregiver, patient.
Relation = sa.Row[int, int, int, datetime, User, User]


def list_all(search: Search) -> Listing[Relation]:
    """Return all links with both users, the latest link first. Use one SQL statement."""
    caregiver, patient = orm.aliased(User, name="caregiver"), orm.aliased(User, name="patient")
    link = CaregiverLink
    query = (
        sa.select(link.id, link.caregiver_id, link.patient_id, link.created_at, caregiver, patient)
        # Use outer joins, because PostgreSQL can skip these joins when it counts the rows. Both users always exist,
        # so inner joins would return the same rows.
        .outerjoin(caregiver, caregiver.id == link.caregiver_id)
        .outerjoin(patient, patient.id == link.patient_id)
        .options(orm.lazyload(caregiver.roles), orm.lazyload(patient.roles))
        .order_by(link.created_at.desc(), link.id.desc())
    )
    if search.q:
        ends = (caregiver.username, caregiver.nama_ktp, patient.username, patient.nama_ktp)
        query = query.where(containing(search.q, *ends))
    return paginate_rows(query, search.page)


def delete(caregiver_id: int, patient_id: int, by: Caller) -> None:
    caregivers.delete(caregiver_id, patient_id)
    audit.record(by, audit.AuditAction.DELETED, f"caregiver_link:{caregiver_id}:{patient_id}")
