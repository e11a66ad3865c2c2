"""Erasure and export of a person's own data."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.caregivers import service as caregivers
from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Forbidden, NotFound, TooManyRequests
from app.core.lib.local_time import JAKARTA, day_text, midnight
from app.identity import access_log, dependents, erasure, own_password, roles, users
from app.identity.access_log import AccessAction
from app.identity.erasure import Posts
from app.identity.models import RoleName, User
from app.identity.sessions import Caller
from app.notifications import outbox
from app.pengingat import service as pengingat
from app.personal_data import erasers, jobs, tombstones
from app.personal_data.models import DataExport

EXPORT_NOT_FOUND = "Salinan data tidak ditemukan."
DELETED = "Akun Anda akan dihapus pada {hari}. Masuk kembali sebelum hari itu untuk membatalkannya."
DEPENDENT_DELETED = "Akun ini akan dihapus pada {hari}. Sebelum hari itu Anda masih dapat membatalkannya."


def delete_profile(caller: Caller, password: str, forum: str) -> dict[str, object]:
    """Schedule the erasure of the caller at the end of the grace period.

    From now on, the caller gets no messages, and the caller's caregivers get no alerts. Raise `Conflict` for the last
    admin or super-admin, and for a caregiver who has dependents.
    """
    user = own_password.get_confirmed(caller, password)
    for name in roles.LAST:
        if name in user.role_names:
            roles.keep_last(user, name)
    dependents.check_none(user.id)
    return _begin(user, Posts(forum), DELETED)


def delete_dependent(caller: Caller, dependent_id: int) -> dict[str, object]:
    """Schedule the erasure of a dependent of the caller. From now on no list contains the dependent."""
    user = dependents.lock_own(caller.id, dependent_id)
    access_log.record(caller, user.id, AccessAction.ACCOUNT_DELETED)
    dependents.end_handover(user.id)
    return _begin(user, Posts.ANONYMISE, DEPENDENT_DELETED)


def undelete_dependent(caller: Caller, dependent_id: int) -> User:
    """Cancel the erasure of a dependent of the caller. Raise `TooManyDependents` if the limit is reached."""
    # Lock the caregiver before the dependent. The creation of a dependent takes its locks in the same order.
    caregiver = users.get_own(caller, to_change=True)
    if RoleName.PENDAMPING not in caregiver.role_names:
        raise Forbidden
    user = dependents.lock_own(caller.id, dependent_id, deleted=True)
    if user.erasure_due_at is not None:
        dependents.check_max_dependents(caller.id)
        erasure.cancel(user)
        access_log.record(caller, user.id, AccessAction.ACCOUNT_RESTORED)
    return user


def _begin(user: User, posts: Posts, message: str) -> dict[str, object]:
    erasure.begin(user, posts)
    outbox.cancel_all_to(user.id)
    caregivers.leave(user.id)
    pengingat.pause(user.id)
    assert user.erasure_due_at is not None  # noqa: S101  # it was set just now
    day = day_text(user.erasure_due_at.astimezone(JAKARTA).date())
    return {"message": message.format(hari=day), "due_at": user.erasure_due_at}


def erase_now(user: User) -> None:
    """Erase a person immediately, in the open transaction.

    The calling function has locked the person's posts, then the person's row. If the person is a caregiver, first erase
    the dependents that this caregiver has already deleted. Raise `HasDependents` if the caregiver has other dependents.
    """
    dependents.check_none(user.id)
    for dependent_id in dependents.erase_with(user.id):
        erase_now(users.get(dependent_id))
    # Use `now()`, the start of the transaction, because a trigger of the audit log compares `erasure_due_at`
    # with this time.
    user.erasure_due_at = db.session.scalar(sa.select(sa.func.now()))
    db.session.flush()
    person = erasure.subject_of(user)
    caregivers.leave(user.id)
    tombstones.create(user, person.posts)
    erasers.finish(person)


def create_export(caller: Caller, patient_id: int | None, password: str) -> DataExport:
    """Request an export of all data of the caller or of their dependent. One request per day (Jakarta) is allowed."""
    own_password.get_confirmed(caller, password)
    user_id = dependents.patient_id_of(caller, patient_id, AccessAction.DATA_COPIED)
    now = db_time.now()
    export: DataExport | None = db.session.scalar(
        insert(DataExport)
        .values(
            user_id=user_id,
            day=now.astimezone(JAKARTA).date(),
            file=f"{secrets.token_hex(16)}.zip",
            next_try_at=now + jobs.RETRY,
        )
        .on_conflict_do_nothing(index_elements=["user_id", "day"])
        .returning(DataExport)
    )
    if export is None:
        raise TooManyRequests("Salinan data hanya dapat diminta sekali sehari.", retry_after=_until_midnight_s(now))
    jobs.enqueue_export(export.id)
    return export


def get_export(caller: Caller, patient_id: int | None, export_id: int) -> DataExport:
    """Return an export of the caller or of their dependent.

    Raise `NotFound` if the export became ready more than a day ago.
    """
    user_id = dependents.patient_id_of(caller, patient_id, AccessAction.DATA_COPIED)
    is_kept = sa.or_(DataExport.ready_at.is_(None), DataExport.ready_at > db_time.now() - jobs.KEPT)
    export = db.session.scalar(
        sa.select(DataExport).where(DataExport.id == export_id, DataExport.user_id == user_id, is_kept)
    )
    if export is None:
        raise NotFound(EXPORT_NOT_FOUND)
    return export


def _until_midnight_s(now: datetime) -> int:
    tomorrow = now.astimezone(JAKARTA).date() + timedelta(days=1)
    return int((midnight(tomorrow) - now).total_seconds()) + 1
