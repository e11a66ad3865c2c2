"""Erasure and export of a person's own data."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.caregivers import service as caregivers
from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import NotFound, TooManyRequests
from app.core.lib.local_time import JAKARTA, day_text, midnight
from app.identity import dependents, erasure, own_password, roles
from app.identity.erasure import Posts
from app.identity.models import User
from app.identity.sessions import Caller
from app.notifications import outbox
from app.notifications.models import Delivery
from app.pengingat import service as pengingat
from app.personal_data import erasers, jobs, tombstones
from app.personal_data.models import DataExport

EXPORT_NOT_FOUND = "Salinan data tidak ditemukan."
DELETED = "Akun Anda akan dihapus pada {hari}. Masuk kembali sebelum hari itu untuk membatalkannya."
DEPENDENT_DELETED = "Akun ini sudah dihapus."


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
    due_at = _leave(user, Posts(forum), erasure.GRACE)
    return {"message": DELETED.format(hari=day_text(due_at.astimezone(JAKARTA).date())), "due_at": due_at}


def delete_dependent(caller: Caller, dependent_id: int, password: str) -> dict[str, object]:
    """Erase a dependent of the caller. No list contains the dependent from now on. A job erases the rows at once."""
    own_password.get_confirmed(caller, password)
    user = dependents.lock_own(caller.id, dependent_id)
    _leave(user, Posts.DELETE, timedelta())
    jobs.enqueue_erase(user.id)
    return {"message": DEPENDENT_DELETED}


def _leave(user: User, posts: Posts, grace: timedelta) -> datetime:
    due_at = erasure.begin(user, posts, grace)
    outbox.cancel(Delivery.user_id == user.id)
    caregivers.leave(user.id)
    pengingat.pause(user.id)
    return due_at


def erase_now(user: User) -> None:
    """Erase a person immediately, in the open transaction. Raise `HasDependents` for a caregiver with dependents.

    The calling function has locked the person's posts, then the person's row.
    """
    dependents.check_none(user.id)
    # Use `now()`, the start of the transaction, because a trigger of the audit log compares `erasure_due_at`
    # with this time.
    user.erasure_due_at = db.session.scalar(sa.select(sa.func.now()))
    db.session.flush()
    person = erasure.subject_of(user)
    caregivers.leave(user.id)
    tombstones.create(user, person.posts)
    erasers.finish(person)


def create_export(caller: Caller, password: str) -> DataExport:
    """Request an export of all data of the caller and of their dependents. One request per day (Jakarta) is allowed."""
    own_password.get_confirmed(caller, password)
    now = db_time.now()
    export: DataExport | None = db.session.scalar(
        insert(DataExport)
        .values(
            user_id=caller.id,
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


def get_export(caller: Caller, export_id: int) -> DataExport:
    """Return an export of the caller. Raise `NotFound` if the export became ready more than a day ago."""
    is_kept = sa.or_(DataExport.ready_at.is_(None), DataExport.ready_at > db_time.now() - jobs.KEPT)
    export = db.session.scalar(
        sa.select(DataExport).where(DataExport.id == export_id, DataExport.user_id == caller.id, is_kept)
    )
    if export is None:
        raise NotFound(EXPORT_NOT_FOUND)
    return export


def _until_midnight_s(now: datetime) -> int:
    tomorrow = now.astimezone(JAKARTA).date() + timedelta(days=1)
    return int((midnight(tomorrow) - now).total_seconds()) + 1
