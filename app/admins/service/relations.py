"""Links between caregivers and patients, for administrators."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import sqlalchemy as sa
from sqlalchemy import orm

from app.caregivers import service as caregivers
from app.core.web.pagination import Listing, Search, containing, paginate_rows
from app.identity import access_log, audit, dependents
from app.identity.care import CaregiverLink
from app.identity.models import User
from app.identity.sessions import Caller


class Relation(TypedDict):
    id: int
    caregiver_id: int
    patient_id: int
    created_at: datetime
    caregiver: User
    patient: User


def list_all(search: Search, by: Caller) -> Listing[Relation]:
    """Return all links with both users, the latest link first. Use one SQL statement."""
    caregiver, patient = orm.aliased(User), orm.aliased(User)
    query = (
        sa.select(CaregiverLink, caregiver, patient)
        # Use outer joins, because PostgreSQL can skip these joins when it counts the rows. Both users always exist,
        # so inner joins would return the same rows.
        .outerjoin(caregiver, caregiver.id == CaregiverLink.caregiver_id)
        .outerjoin(patient, patient.id == CaregiverLink.patient_id)
        .where(CaregiverLink.patient_id.not_in(dependents.DELETED_IDS))
        .options(orm.lazyload(caregiver.roles), orm.lazyload(patient.roles))
        .order_by(CaregiverLink.created_at.desc(), CaregiverLink.id.desc())
    )
    if search.q:
        ends = (caregiver.username, caregiver.nama_ktp, patient.username, patient.nama_ktp)
        query = query.where(containing(search.q, *ends))
    links = paginate_rows(query, search.page)
    relations: list[Relation] = [
        {
            "id": link.id,
            "caregiver_id": link.caregiver_id,
            "patient_id": link.patient_id,
            "created_at": link.created_at,
            "caregiver": caregiver,
            "patient": patient,
        }
        for link, caregiver, patient in links.rows
    ]
    people = {end for relation in relations for end in (relation["caregiver_id"], relation["patient_id"])}
    access_log.record_today(by, people, access_log.AccessAction.LISTED)
    return Listing(relations, links.total, links.page)


def list_patients(caregiver_id: int, search: Search, by: Caller) -> Listing[caregivers.LinkedPerson]:
    """Return the patients of a caregiver."""
    listing = caregivers.list_patients(caregiver_id, search)
    access_log.record_today(by, {caregiver_id, *(row.id for row in listing.rows)}, access_log.AccessAction.LISTED)
    return listing


def delete(caregiver_id: int, patient_id: int, by: Caller) -> None:
    caregivers.delete(caregiver_id, patient_id)
    audit.record(by, audit.AuditAction.DELETED, f"caregiver_link:{caregiver_id}:{patient_id}")
