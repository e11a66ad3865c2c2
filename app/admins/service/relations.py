"""Who cares for whom, as administrators see and change it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from app.caregivers import service as caregivers
from app.caregivers.models import CaregiverLink
from app.core.web.pagination import Listing, Page, contains, paginate_rows
from app.identity import audit
from app.identity.models import User
from app.identity.sessions import Caller


def relations(page: Page, q: str | None) -> Listing[dict[str, Any]]:
    """All links, the latest first, with the people at both ends in the same statement."""
    caregiver, patient = orm.aliased(User), orm.aliased(User)
    query = (
        sa.select(CaregiverLink, caregiver, patient)
        .join(caregiver, caregiver.id == CaregiverLink.caregiver_id)
        .join(patient, patient.id == CaregiverLink.patient_id)
        .options(orm.lazyload(caregiver.roles), orm.lazyload(patient.roles))
        .order_by(CaregiverLink.created_at.desc(), CaregiverLink.id.desc())
    )
    if q:
        ends = (caregiver.username, caregiver.nama_ktp, patient.username, patient.nama_ktp)
        query = query.where(sa.or_(*(column.ilike(contains(q)) for column in ends)))
    found = paginate_rows(query, page)
    rows = [
        {
            "id": link.id,
            "caregiver_id": link.caregiver_id,
            "patient_id": link.patient_id,
            "created_at": link.created_at,
            "caregiver": caregiver,
            "patient": patient,
        }
        for link, caregiver, patient in found.rows
    ]
    return Listing(rows, found.total, page)


def cut(caregiver_id: int, patient_id: int, by: Caller) -> None:
    caregivers.delete(caregiver_id, patient_id)
    audit.record(by, audit.Action.DELETED, f"caregiver_link:{caregiver_id}:{patient_id}")
