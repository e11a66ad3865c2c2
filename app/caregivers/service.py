"""Links between caregivers and patients, and the scopes (rights) that a patient gives a caregiver."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.caregivers import notices
from app.core.database.session import db, map_constraint_errors
from app.core.errors import AppError, BadRequest, Forbidden, NotFound
from app.core.web import idempotency, rate_limits
from app.core.web.pagination import Listing, Page, Search, containing, paginate, paginate_rows
from app.identity import care, dependents, erasure, users
from app.identity.care import CaregiverCut, CaregiverLink, Scope
from app.identity.models import RoleName, User

NOT_FOUND = "Hubungan pendamping dan pasien tidak ditemukan."
INVITATION_NEEDED = "Hubungan ini sudah diputus oleh pasien. Mintalah undangan baru kepadanya."
#: Error if the patient is deleted after the check of the patient's role, but before the insert of the caregiver link.
CONSTRAINTS: dict[str, AppError] = {"fk_caregiver_links_patient_id": NotFound(users.NOT_FOUND)}
#: Limits of new links, because each new link sends the patient a notice: between the same two people, and of one
#: patient with caregivers whom the patient has not invited.
LINKED, UNINVITED = "5 per day", "3 per day"

#: Row of a list: id, username, nama_ktp, image and domicile of the other person, then link_id, linked_at and scopes.
LinkedPerson = sa.Row[int, str, str, str | None, str | None, int, datetime, list[str]]


def create(
    caregiver_id: int, patient_id: int, scopes: Collection[str] = (), *, uninvited: bool = False
) -> tuple[CaregiverLink, bool]:
    """Link a caregiver and a patient. Notify the patient. Return the link, and whether it is new.

    If the link exists, `scopes` are added to its scopes. Raise `NotFound` for an unknown person or a dependent, and
    `BadRequest` for a wrong role. Raise `Forbidden` if the patient deleted an earlier link and `uninvited` is true.
    """
    if caregiver_id == patient_id:
        raise BadRequest("Pendamping dan pasien harus dua orang yang berbeda.", code="same_person")
    _with_role(caregiver_id, RoleName.PENDAMPING)
    if _with_role(patient_id, RoleName.PASIEN).guardian_id is not None:
        raise NotFound(users.NOT_FOUND)
    users.lock(patient_id)  # lock the patient before the patient's rows in other tables
    _forget_cut(caregiver_id, patient_id, uninvited=uninvited)
    with map_constraint_errors(CONSTRAINTS):
        # This update only locks the link. It must not set a key column, because the update would then lock the link's
        # key. `ledger.missed` skips a link whose key is locked, and then creates no alert.
        link, is_new = db.session.execute(
            insert(CaregiverLink)
            .values(caregiver_id=caregiver_id, patient_id=patient_id)
            .on_conflict_do_update(index_elements=["caregiver_id", "patient_id"], set_={"scopes": CaregiverLink.scopes})
            .returning(CaregiverLink, sa.literal_column("xmax = 0", sa.Boolean))
        ).one()
    if is_new:
        rate_limits.count(LINKED, "caregiver_link", f"{caregiver_id}:{patient_id}")
        if uninvited:
            rate_limits.count(UNINVITED, "uninvited", f"user:{patient_id}")
    allows_more = not set(scopes) <= set(link.scopes)
    if allows_more:
        link.scopes = care.in_order({*link.scopes, *scopes})
        db.session.flush()
    if is_new or allows_more:
        notices.linked(link)
    return link, is_new


def update_scopes(patient_id: int, caregiver_id: int, scopes: Collection[str]) -> LinkedPerson:
    """Replace the scopes that a patient gives a caregiver. Notify the patient of new scopes.

    Raise `NotFound` if the two have no link.
    """
    which = sa.and_(CaregiverLink.patient_id == patient_id, CaregiverLink.caregiver_id == caregiver_id)
    link = next(iter(_locked(which)), None)
    if link is None:
        raise NotFound(NOT_FOUND)
    before, link.scopes = link.scopes, care.in_order(scopes)
    db.session.flush()
    _end(link.caregiver_id, before, link.scopes)
    if not set(link.scopes) <= set(before):
        notices.linked(link)
    return db.session.execute(_linked(CaregiverLink.caregiver_id, which)).one()


def leave(patient_id: int) -> None:
    """Cancel queued alerts about a patient who requests erasure or withdraws the consent for health data.

    The caregiver links stay. The calling function has locked the patient's row.
    """
    for link in _locked(CaregiverLink.patient_id == patient_id):
        _end(link.caregiver_id, link.scopes)


def delete(caregiver_id: int, patient_id: int) -> None:
    """Delete a link. For a new link, the caregiver then needs an invitation from the patient."""
    users.lock(patient_id)
    # Lock both people before the link, because the deletion of a person takes its locks in the same order.
    caregiver, patient = orm.aliased(User), orm.aliased(User)
    both = sa.select(caregiver.id, patient.id).join(patient, patient.id != caregiver.id)
    both = both.where(caregiver.id == caregiver_id, patient.id == patient_id)
    cut = insert(CaregiverCut).from_select(
        ["caregiver_id", "patient_id"], both.with_for_update(read=True, key_share=True)
    )
    db.session.execute(cut.on_conflict_do_nothing())
    _delete(caregiver_id, patient_id)


def delete_own(caller_id: int, other_id: int) -> None:
    """Delete the link between the caller and another person. The caller may be the caregiver or the patient."""
    try:
        _delete(caller_id, other_id)
    except NotFound:
        delete(other_id, caller_id)


def list_patients(caregiver_id: int, search: Search) -> Listing[LinkedPerson]:
    """Return a caregiver's patients, the latest link first. `search.q` matches a part of username or name."""
    query = _linked(CaregiverLink.patient_id, CaregiverLink.caregiver_id == caregiver_id).where(erasure.IS_PRESENT)
    if search.q:
        query = query.where(containing(search.q, User.username, User.nama_ktp))
    return paginate_rows(query, search.page)


def list_caregivers(patient_id: int, page: Page) -> Listing[LinkedPerson]:
    """Return a patient's caregivers, the latest link first."""
    return paginate_rows(
        _linked(CaregiverLink.caregiver_id, CaregiverLink.patient_id == patient_id).where(erasure.IS_PRESENT), page
    )


def list_with_role(role: RoleName, search: Search) -> Listing[User]:
    """Return users with a role, newest first, without dependents. `search.q` matches a part of username or name."""
    query = (
        users.with_role(role).where(erasure.IS_PRESENT, User.guardian_id.is_(None)).options(sa.orm.lazyload(User.roles))
    )
    if search.q:
        query = query.where(containing(search.q, User.username, User.nama_ktp))
    return paginate(query, search.page)


def _linked(
    other: sa.orm.InstrumentedAttribute[int], condition: sa.ColumnElement[bool]
) -> sa.Select[int, str, str, str | None, str | None, int, datetime, list[str]]:
    return (
        sa.select(
            User.id,
            User.username,
            User.nama_ktp,
            User.image,
            User.domicile,
            CaregiverLink.id.label("link_id"),
            CaregiverLink.created_at.label("linked_at"),
            CaregiverLink.scopes,
        )
        .join(CaregiverLink, other == User.id)
        .where(condition)
        .order_by(CaregiverLink.created_at.desc(), CaregiverLink.id.desc())
    )


def _with_role(user_id: int, role: RoleName) -> User:
    user = users.get_present(user_id)
    if role not in user.role_names:
        raise BadRequest(f"Pengguna {user_id} bukan {role}.", code="role_mismatch")
    return user


def _forget_cut(caregiver_id: int, patient_id: int, *, uninvited: bool) -> None:
    """Delete the `CaregiverCut` of these two people, so that a new link is allowed.

    A `CaregiverCut` records that the patient deleted an earlier link. If it exists and `uninvited` is true, do not
    delete it, but raise `Forbidden`.
    """
    which = sa.and_(CaregiverCut.caregiver_id == caregiver_id, CaregiverCut.patient_id == patient_id)
    if not uninvited:
        db.session.execute(sa.delete(CaregiverCut).where(which))
    elif db.session.scalar(sa.select(sa.exists().where(which))):
        raise Forbidden(INVITATION_NEEDED, code="invitation_needed")


def _delete(caregiver_id: int, patient_id: int) -> None:
    dependents.check_may_cut(caregiver_id, patient_id)
    link = sa.delete(CaregiverLink).where(
        CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == patient_id
    )
    cut = db.session.execute(link.returning(CaregiverLink.scopes)).one_or_none()
    if cut is None:
        raise NotFound(NOT_FOUND)
    _end(caregiver_id, cut.scopes)


def _locked(which: sa.ColumnElement[bool]) -> Sequence[CaregiverLink]:
    """Lock and return the links that match the condition."""
    links = sa.select(CaregiverLink).where(which).order_by(CaregiverLink.caregiver_id).with_for_update(key_share=True)
    return db.session.scalars(links.execution_options(populate_existing=True)).all()


def _end(caregiver_id: int, before: Collection[str], allowed: Collection[str] = ()) -> None:
    """Delete the caregiver's stored idempotent responses if `before` contains MANAGE and `allowed` does not.

    The calling function has locked the caregiver link. Alerts ask for the scope when they leave.
    """
    if Scope.MANAGE in before and Scope.MANAGE not in allowed:
        idempotency.delete_of_user(caregiver_id, "pengingat")
