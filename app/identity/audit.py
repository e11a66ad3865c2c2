"""The audit log: who looked at a NIK or a pseudonym, exported, changed roles, deleted, moderated, or ran SQL.

An entry is written in the transaction that does what it reports, so neither is ever there without the other. Only a
statement of the SQL console is recorded before it runs.
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
from app.identity.erasure import Leaving
from app.identity.models import AuditEntry, RoleName, User
from app.identity.sessions import Caller

logger = logging.getLogger("app.audit")

#: What stands in the place of a person who was erased.
FORGOTTEN = "[dihapus]"
#: Entries that one statement looks through, so that it ends in time however long the log is.
WINDOW = 20_000


class Action(StrEnum):
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
    #: Only super-admins see these: a statement can hold any data.
    SQL = "sql"
    #: By the service itself: nothing of the person is left.
    ERASED = "erased"


@dataclass(frozen=True)
class AuditSearch(Search):
    """A page of the log, narrowed by `q` and to one kind of action."""

    action: str | None = None


#: Id, created_at, actor_id, actor (a username), action, subject, details, ip.
Entry = sa.Row[int, datetime, int | None, str | None, str, str, dict[str, object], str | None]


def record(by: Caller | None, action: Action, subject: str, **details: object) -> None:
    """Add an entry to the open unit of work: `by` does `action` (`None`: the operator, by a command)."""
    db.session.add(_entry(by, action, subject, details))
    db.session.info[__name__] = True


def is_recorded() -> bool:
    """Whether the open unit of work has an entry already."""
    return __name__ in db.session.info


def record_now(by: Caller, action: Action, subject: str, **details: object) -> None:
    """Commit an entry at once, in a transaction of its own: what follows may fail, the entry stays.

    The log stream gets a line too, because a statement of the SQL console can delete its own entry. The line has no
    details: a statement may name somebody, and an erasure changes entries, but no log.
    """
    with own_transaction() as session:
        entry = _entry(by, action, subject, details)
        session.add(entry)
        session.flush()
        extra = {"entry_id": entry.id, "actor_id": by.id, "action": action.value, "subject": subject, "ip": by.ip}
    logger.warning("audit", extra=extra)


def list_all(by: Caller, search: AuditSearch) -> Listing[Entry]:
    """The log, newest first, with the names of those who are still there; SQL is for super-admins alone."""
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
    if search.action:
        query = query.where(AuditEntry.action == search.action)
    if search.q:
        query = query.where(like(contains(search.q), AuditEntry.subject, User.username))
    return paginate_rows(query, search.page)


def forget(person: Leaving) -> None:
    """Take out what the log says of somebody who is erased: their names, numbers, NIK and address.

    What stays is the fact without the person: what was done, when, by which id, to which id. An id that is nobody's any
    more says of nobody who it was. The trigger lets through no other change than this.
    """
    anywhere = "|".join(map(_pattern, person.identifiers)) or "$x"  # nothing is behind the end
    names = "|".join(map(_pattern, person.names))
    as_username = f'(?<="username": "){_pattern(person.username)}(?=")'
    in_literal = f"(?<=['%])({names})(?=['%])"
    details: sa.ColumnElement[str] = sa.cast(AuditEntry.details, sa.Text)
    for pattern in (anywhere, as_username):
        details = sa.func.regexp_replace(details, pattern, FORGOTTEN, "gi")
    # A name may be any word, so in a statement it is one only between quotes.
    in_statement = sa.func.regexp_replace(details, in_literal, FORGOTTEN, "gi")
    details = sa.case((AuditEntry.action == Action.SQL, in_statement), else_=details)
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
    """A regular expression of PostgreSQL's that finds the text where it stands in JSON."""
    return re.escape(orjson.dumps(text).decode()[1:-1])


def _entry(by: Caller | None, action: Action, subject: str, details: dict[str, object]) -> AuditEntry:
    return AuditEntry(
        actor_id=by.id if by else None, action=action, subject=subject, details=details, ip=by.ip if by else None
    )
