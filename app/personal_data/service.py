"""A person's own data: asked for, and fetched."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.caregivers import service as caregivers
from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import NotFound, TooManyRequests
from app.core.jobs.queue import BULK, enqueue_once
from app.core.lib.clock import JAKARTA, day_text, midnight
from app.identity import erasure, own_password, roles
from app.identity.erasure import Posts
from app.identity.models import User
from app.identity.sessions import Caller
from app.logs import jobs as logs
from app.notifications import outbox
from app.pengingat import service as pengingat
from app.personal_data import erasers, jobs, tombstones
from app.personal_data.models import DataExport

EXPORT_NOT_FOUND = "Salinan data tidak ditemukan."
DELETED = "Akun Anda akan dihapus pada {hari}. Masuk kembali sebelum hari itu untuk membatalkannya."


def delete_profile(caller: Caller, password: str, forum: str) -> dict[str, object]:
    """Have the caller erased when the grace ends. `Conflict` for the last administrator or super-admin.

    From now on they hear of nothing, and nobody hears of them.
    """
    user = own_password.get_confirmed(caller, password)
    for name in roles.LAST:
        if name in user.role_names:
            roles.keep_last(user, name)
    erasure.begin(user, Posts(forum))
    outbox.cancel_all_to(user.id)
    caregivers.leave(user.id)
    pengingat.pause(user.id)
    assert user.erasure_due_at is not None  # noqa: S101  # it was set just now
    day = day_text(user.erasure_due_at.astimezone(JAKARTA).date())
    return {"message": DELETED.format(hari=day), "due_at": user.erasure_due_at}


def erase_now(user: User) -> None:
    """Erase a person at once, in the open unit of work; their row is locked, and their posts before it."""
    # The clock of the transaction, by which the audit log lets itself be changed.
    user.erasure_due_at = db.session.scalar(sa.select(sa.func.now()))
    db.session.flush()
    person = erasure.leaving(user)
    caregivers.leave(user.id)
    tombstones.raise_for(user, person.posts)
    erasers.finish(person)
    enqueue_once(logs.forget_strangers, queue=BULK)  # what they did a moment ago may not be stored yet


def create_export(caller: Caller, password: str) -> DataExport:
    """Have a copy of everything of the caller made; once a day (of Jakarta)."""
    own_password.get_confirmed(caller, password)
    now = database_clock.now()
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


def get_export(export_id: int, caller: Caller) -> DataExport:
    """The caller's own export, made or under way; `NotFound` once it is a day old."""
    is_kept = sa.or_(DataExport.ready_at.is_(None), DataExport.ready_at > database_clock.now() - jobs.KEPT)
    export = db.session.scalar(
        sa.select(DataExport).where(DataExport.id == export_id, DataExport.user_id == caller.id, is_kept)
    )
    if export is None:
        raise NotFound(EXPORT_NOT_FOUND)
    return export


def _until_midnight_s(now: datetime) -> int:
    tomorrow = now.astimezone(JAKARTA).date() + timedelta(days=1)
    return int((midnight(tomorrow) - now).total_seconds()) + 1
