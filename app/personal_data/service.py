"""A person's own data: asked for, and fetched."""

from __future__ import annotations

import secrets
from datetime import datetime, time, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database import clock as database_clock
from app.core.database.session import db
from app.core.errors import NotFound, TooManyRequests
from app.core.lib.clock import JAKARTA
from app.identity import users
from app.identity.sessions import Caller
from app.personal_data import jobs
from app.personal_data.models import DataExport

EXPORT_NOT_FOUND = "Salinan data tidak ditemukan."


def create_export(caller: Caller, password: str) -> DataExport:
    """Have a copy of everything of the caller made; once a day (of Jakarta)."""
    users.check_password(users.get_own(caller), password)
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
    return int((datetime.combine(tomorrow, time(), JAKARTA) - now).total_seconds()) + 1
