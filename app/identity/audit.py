"""The audit log: who looked at a NIK, exported, changed roles, deleted, or ran SQL.

A row belongs to the transaction of what it tells, so neither is ever there without the other; only a statement of the
SQL console is written down before it runs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db
from app.core.web.pagination import Listing, Page, contains, paginate_rows
from app.identity.models import AuditEntry, RoleName, User
from app.identity.sessions import Caller


class Action(StrEnum):
    NIK_READ = "nik_read"
    EXPORT = "export"
    ROLES_CHANGED = "roles_changed"
    ADMIN_CREATED = "admin_created"
    USER_CHANGED = "user_changed"
    DELETED = "deleted"
    #: Shown to super-admins alone: a statement can hold any data.
    SQL = "sql"


def record(by: Caller | None, action: Action, subject: str, **details: Any) -> None:
    """Write down, in the open unit of work, what `by` does (`None`: the operator, by a command)."""
    db.session.add(_entry(by, action, subject, details))
    db.session.info[__name__] = True


def is_recorded() -> bool:
    """Whether the open unit of work has told what it does."""
    return __name__ in db.session.info


def record_now(by: Caller, action: Action, subject: str, **details: Any) -> None:
    """Write it down at once, in a transaction of its own: what follows may fail, the row stays."""
    with orm.Session(db.engine, join_transaction_mode="create_savepoint") as session, session.begin():
        session.add(_entry(by, action, subject, details))


def entries(by: Caller, page: Page, *, q: str | None = None, action: str | None = None) -> Listing[Any]:
    """The log, newest first, with the names of those who are still there."""
    query = (
        sa.select(
            AuditEntry.id,
            AuditEntry.created_at,
            AuditEntry.actor_id,
            User.username.label("actor"),
            AuditEntry.action,
            AuditEntry.subject,
            AuditEntry.details,
            AuditEntry.ip,
        )
        .outerjoin(User, User.id == AuditEntry.actor_id)
        .order_by(AuditEntry.id.desc())
    )
    if not by.has(RoleName.SUPERADMIN):
        query = query.where(AuditEntry.action != sa.literal_column(f"'{Action.SQL}'"))  # as in the index
    if action:
        query = query.where(AuditEntry.action == action)
    if q:
        query = query.where(sa.or_(AuditEntry.subject.ilike(contains(q)), User.username.ilike(contains(q))))
    return paginate_rows(query, page)


def _entry(by: Caller | None, action: Action, subject: str, details: dict[str, Any]) -> AuditEntry:
    return AuditEntry(
        actor_id=by.id if by else None, action=action, subject=subject, details=details, ip=by.ip if by else None
    )
