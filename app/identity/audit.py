"""The audit log of administrators' actions, such as exports, role changes, deletions and reads of national ids (NIK).

An entry is written in the transaction of its action, so either both are committed or neither. Statements of the SQL
console are an exception. The entry about such a statement is committed before the statement runs.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database.session import db, own_transaction
from app.core.web.pagination import Listing, Search, contains, paginate_rows
from app.core.web.search import like
from app.identity.erasure import ErasureSubject
from app.identity.models import AuditEntry, RoleName, User
from app.identity.sessions import Caller

logger = logging.getLogger("app.audit")

#: Text in place of an erased person's data.
FORGOTTEN = "[dihapus]"
#: Number of entries that one statement of `redact` reads. The limit avoids a timeout on a long log.
WINDOW = 20_000


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
    SENDER_RESUMED = "sender_resumed"
    MODERATED = "moderated"
    PSEUDONYM_LIFTED = "pseudonym_lifted"
    #: A statement of the SQL console. Only super-admins see these entries, because a statement may contain any data.
    SQL = "sql"
    #: The service has erased a person.
    ERASED = "erased"


@dataclass(frozen=True)
class AuditSearch(Search):
    """Page and filters of a request for the audit log. `q` is a text to search for."""

    action: str | None = None


#: Row in the list of the audit log: id, created_at, actor_id, actor (a username), action, subject, details, ip.
Entry = sa.Row[int, datetime, int | None, str | None, str, str, dict[str, object], str | None]


def record(by: Caller | None, action: AuditAction, subject: str, **details: object) -> None:
    """Add an entry in the current transaction. `by` is None for a command of the operator."""
    db.session.add(_entry(by, action, subject, details))
    db.session.info[__name__] = True


def is_recorded() -> bool:
    return __name__ in db.session.info


def record_now(by: Caller, action: AuditAction, subject: str, **details: object) -> None:
    """Commit an entry at once in its own transaction, so that the entry stays if the action fails.

    Also log a line, because a statement of the SQL console can delete its own entry. The line omits the
    details, because they may contain personal data. An erasure cannot remove personal data from log files.
    """
    with own_transaction() as session:
        entry = _entry(by, action, subject, details)
        session.add(entry)
        session.flush()
        extra = {"entry_id": entry.id, "actor_id": by.id, "action": action.value, "subject": subject, "ip": by.ip}
    logger.warning("audit", extra=extra)


def list_all(by: Caller, search: AuditSearch) -> Listing[Entry]:
    """Return one page of the log, newest first. Only super-admins get entries of the SQL console.

    The `actor` of an entry is None if the user with the id `actor_id` was deleted.
    """
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
        # PostgreSQL can use the partial index only if this condition has the same literal as the index.
        query = query.where(AuditEntry.action != sa.literal_column(f"'{AuditAction.SQL}'"))
    if search.action:
        query = query.where(AuditEntry.action == search.action)
    if search.q:
        query = query.where(like(contains(search.q), AuditEntry.subject, User.username))
    return paginate_rows(query, search.page)


def redact(person: ErasureSubject) -> None:
    """Remove the names, numbers, NIK and IP addresses of an erased person from the log.

    The action, its time and the ids stay, because the id of a deleted person identifies nobody. A database trigger
    rejects all other changes of the log.
    """
    anywhere = "|".join(map(_pattern, person.identifiers)) or "$x"  # the pattern "$x" matches no text
    names = "|".join(map(_pattern, person.names))
    as_username = f'(?<="username": "){_pattern(person.username)}(?=")'
    in_literal = f"(?<=['%])({names})(?=['%])"
    details: sa.ColumnElement[str] = sa.cast(AuditEntry.details, sa.Text)
    for pattern in (anywhere, as_username):
        details = sa.func.regexp_replace(details, pattern, FORGOTTEN, "gi")
    # Replace a name in an SQL statement only between quotes, because a name may also be an ordinary word.
    in_statement = sa.func.regexp_replace(details, in_literal, FORGOTTEN, "gi")
    details = sa.case((AuditEntry.action == AuditAction.SQL, in_statement), else_=details)
    ip = sa.case((AuditEntry.actor_id == person.id, None), else_=AuditEntry.ip)
    says_something = sa.or_(
        details != sa.cast(AuditEntry.details, sa.Text),
        sa.and_(AuditEntry.actor_id == person.id, AuditEntry.ip.is_not(None)),
    )
    db.session.execute(sa.select(sa.func.set_config("audit.forgetting", "on", True)))
    newest = db.session.scalar(sa.select(sa.func.max(AuditEntry.id))) or 0
    for first in range(1, newest + 1, WINDOW):
        db.session.execute(
            sa.update(AuditEntry)
            .where(AuditEntry.id.between(first, first + WINDOW - 1), says_something)
            .values(details=sa.cast(details, JSONB), ip=ip)
            .execution_options(synchronize_session=False)
        )
    db.session.execute(sa.select(sa.func.set_config("audit.forgetting", "off", True)))


def _pattern(text: str) -> str:
    """Return a PostgreSQL regular expression that finds `text` in a JSON document."""
    return re.escape(orjson.dumps(text).decode()[1:-1])


def _entry(by: Caller | None, action: AuditAction, subject: str, details: dict[str, object]) -> AuditEntry:
    return AuditEntry(
        actor_id=by.id if by else None, action=action, subject=subject, details=details, ip=by.ip if by else None
    )
