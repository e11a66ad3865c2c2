"""The audit log of administrators' actions, such as exports, role changes, deletions and reads of national ids (NIK).

An entry is written in the transaction of its action, so either both are committed or neither. Statements of the SQL
console are an exception. The entry about such a statement is committed before the statement runs.

Entries contain ids and no names, because an entry stays after the erasure of a person. Usernames are joined on reading.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db
from app.core.web.pagination import Listing, Search, containing, paginate_rows
from app.identity.models import AuditEntry, RoleName, User
from app.identity.sessions import Caller

logger = logging.getLogger("app.audit")

#: Time after which the text of a statement of the SQL console is emptied. The text may contain any data.
SQL_KEPT = timedelta(days=30)


class AuditAction(StrEnum):
    NIK_READ = "nik_read"
    PSEUDONYM_READ = "pseudonym_read"
    EXPORT = "export"
    ROLES_CHANGED = "roles_changed"
    ADMIN_CREATED = "admin_created"
    USER_CHANGED = "user_changed"
    SESSIONS_ENDED = "sessions_ended"
    SECOND_FACTOR_REMOVED = "second_factor_removed"
    NUMBER_FREED = "number_freed"
    DELETED = "deleted"
    BROADCASTS_PAUSED = "broadcasts_paused"
    BROADCASTS_RESUMED = "broadcasts_resumed"
    MODERATED = "moderated"
    #: A statement of the SQL console. Only super-admins see these entries, because a statement may contain any data.
    SQL = "sql"
    #: The service has erased a person.
    ERASED = "erased"


@dataclass(frozen=True)
class AuditSearch(Search):
    """Page and filters of a request for the audit log. `q` is a text to search for."""

    action: str | None = None


#: Row in the list of the audit log: id, created_at, actor_id, actor (a username), action, subject,
#: subject_name (a username), details, ip.
Entry = sa.Row[int, datetime, int | None, str | None, str, str, str | None, dict[str, object], str | None]


def record(by: Caller | None, action: AuditAction, subject: str, **details: object) -> int:
    """Insert an entry and return its id. `by` is None for a command of the operator."""
    db.session.info[__name__] = True
    of_actor = {"actor_id": by.id if by else None, "ip": by.ip if by else None}
    entry = sa.insert(AuditEntry).values(**of_actor, action=action, subject=subject, details=details)
    return db.session.scalars(entry.returning(AuditEntry.id)).one()


def is_recorded() -> bool:
    return __name__ in db.session.info


def list_all(by: Caller, search: AuditSearch) -> Listing[Entry]:
    """Return one page of the log, newest first. Only super-admins get entries of the SQL console.

    `actor` and `subject_name` are None if the user was deleted, and `subject_name` also if the subject is no user.
    """
    about = orm.aliased(User)
    about_id = sa.cast(sa.func.substring(AuditEntry.subject, "^user:([0-9]{1,18})$"), sa.BigInteger)
    query = (
        sa.select(
            AuditEntry.id,
            AuditEntry.created_at,
            AuditEntry.actor_id,
            User.username.label("actor"),
            AuditEntry.action,
            AuditEntry.subject,
            about.username.label("subject_name"),
            AuditEntry.details,
            AuditEntry.ip,
        )
        .outerjoin(User, User.id == AuditEntry.actor_id)
        .outerjoin(about, about.id == about_id)
        .order_by(AuditEntry.id.desc())
    )
    if not by.has(RoleName.SUPERADMIN):
        # PostgreSQL can use the partial index only if this condition has the same literal as the index.
        query = query.where(AuditEntry.action != sa.literal_column(f"'{AuditAction.SQL}'"))
    if search.action:
        query = query.where(AuditEntry.action == search.action)
    if search.q:
        query = query.where(containing(search.q, AuditEntry.subject, User.username))
    return paginate_rows(query, search.page)


def empty_old_sql() -> None:
    """Empty the text of old statements of the SQL console."""
    is_old = AuditEntry.created_at < sa.func.statement_timestamp() - SQL_KEPT
    db.session.execute(
        sa.update(AuditEntry)
        .where(AuditEntry.action == AuditAction.SQL, AuditEntry.details != {}, is_old)
        .values(details={})
        .execution_options(synchronize_session=False)
    )
