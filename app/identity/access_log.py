"""The access log: who looked at what of whose. People read their own part of it at `/profile/akses`.

The audit log (`app.identity.audit`) tells administrators what privileged people did; this one tells each person what
was seen of them. A row is written in the transaction that shows the data, so neither is ever there without the other.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Impersonal, Personal, Rows
from app.core.database.session import Base, Created, db, own_transaction
from app.core.lib.clock import today
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


class Action(StrEnum):
    """What was seen, or done in the person's place."""

    NIK_READ = "nik_read"
    #: The whole record, as administrators see it: contacts, preferences, pseudonym.
    PROFILE_READ = "profile_read"
    #: Contacts, in a list of many people.
    LISTED = "listed"
    #: By an administrator: in a list of people who missed doses for days.
    MISSED_LISTED = "missed_listed"
    #: A report or a table as a file.
    EXPORT = "export"
    #: A look into the database itself, which can hold any data.
    DATABASE_READ = "database_read"
    #: Latest activities, in the overview.
    ACTIVITY_READ = "activity_read"
    PSEUDONYM_LIFTED = "pseudonym_lifted"
    #: By an administrator: what became of each message, without its text.
    DELIVERIES_READ = "deliveries_read"
    #: By an administrator: the person's number was taken from the account.
    NUMBER_FREED = "number_freed"
    #: By a caregiver: what became of each dose, the reminders themselves, and a change of them.
    HISTORY_READ = "history_read"
    REMINDERS_READ = "reminders_read"
    REMINDERS_CHANGED = "reminders_changed"
    #: By the caregiver of a dependent: a copy of all data, this log, the consents, and the account itself.
    DATA_COPIED = "data_copied"
    ACCESS_READ = "access_read"
    CONSENTS_READ = "consents_read"
    CONSENTS_CHANGED = "consents_changed"
    ACCOUNT_DELETED = "account_deleted"
    ACCOUNT_RESTORED = "account_restored"


#: What a caregiver does; the person knows them, and reads their name.
BY_CAREGIVERS = frozenset(
    {
        Action.HISTORY_READ,
        Action.REMINDERS_READ,
        Action.REMINDERS_CHANGED,
        Action.DATA_COPIED,
        Action.ACCESS_READ,
        Action.CONSENTS_READ,
        Action.CONSENTS_CHANGED,
        Action.ACCOUNT_DELETED,
        Action.ACCOUNT_RESTORED,
    }
)


class Covers(StrEnum):
    """Whom an access to many people at once concerned."""

    EVERYBODY = "everybody"
    #: Who registered from `since` until before `until`.
    REGISTERED = "registered"
    #: Of whom an activity was logged from `since` until before `until`.
    ACTIVE = "active"


class AccessLogEntry(Base, Created):
    """One look at what is one person's."""

    __tablename__ = "access_log"
    __personal__ = Personal(
        of=("user_id",),
        # Who looked is told at `/profile/akses`, as far as the person may know it.
        mentions=("actor_id",),
        export=Rows(without=("actor_id",)),
        erase=Delete(),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), comment="whose data it was")
    actor_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id", ondelete="SET NULL"), index=True, comment="who looked; null: gone, or the operator"
    )
    actor_role: Mapped[str | None] = mapped_column(comment="as what they looked; null: the operator, by a command")
    action: Mapped[str]
    reason: Mapped[str | None] = mapped_column(comment="as the one who looked wrote it")
    day: Mapped[date | None] = mapped_column(comment="of Jakarta, of what is noted once a day; null: noted each time")

    __table_args__ = (
        sa.Index("ix_access_log_user_id", "user_id", "id"),
        sa.Index(
            "uq_access_log_day",
            "user_id",
            "action",
            "day",
            unique=True,
            postgresql_where=sa.text("day IS NOT NULL"),
        ),
    )


class BulkAccess(Base, Created):
    """A look at what is many people's: one row however many they are, and once a day however often it is taken.

    Its moment is that of the day's last look, so that it holds who came after the first.
    """

    __tablename__ = "bulk_accesses"
    __personal__ = Impersonal("It says as what somebody looked at how many, and names nobody")

    id: Mapped[int] = mapped_column(primary_key=True)
    actor_role: Mapped[str | None]
    action: Mapped[str]
    covers: Mapped[str]
    since: Mapped[datetime | None]
    until: Mapped[datetime | None]
    day: Mapped[date] = mapped_column(comment="of Jakarta")

    __table_args__ = (
        sa.UniqueConstraint(
            "day", "action", "actor_role", "covers", "since", "until", postgresql_nulls_not_distinct=True
        ),
    )


def note(by: Caller | None, user_id: int, action: Action, reason: str | None = None) -> None:
    """Note in the open unit of work that `by` (None: the operator) saw what is this person's. One's own is no news."""
    db.session.execute(_adding(by, [user_id], action, reason, None))


def note_today(by: Caller | None, user_ids: Collection[int], action: Action) -> None:
    """As `note`, of several people and once a day: who has the day's row already gets no other."""
    if user_ids:
        db.session.execute(
            _adding(by, user_ids, action, None, today()).on_conflict_do_nothing(
                index_elements=["user_id", "action", "day"], index_where=AccessLogEntry.day.is_not(None)
            )
        )


def note_many(
    by: Caller | None, action: Action, covers: Covers, *, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Note a look at many people's data by whom it `covers`, once a day; a null bound is none."""
    db.session.execute(_adding_many(by, action, covers, since, until))


def note_everybody_now(by: Caller, action: Action) -> None:
    """Note a look that may have held anybody, and commit that at once: what follows may end every connection."""
    with own_transaction() as session:
        session.execute(_adding_many(by, action, Covers.EVERYBODY, None, None))


def _adding_many(
    by: Caller | None, action: Action, covers: Covers, since: datetime | None, until: datetime | None
) -> Insert:
    values = {"covers": covers, "since": since, "until": until, "day": today()}
    adding = insert(BulkAccess).values(actor_role=_role(by, action), action=action, **values)
    columns = ["day", "action", "actor_role", "covers", "since", "until"]
    return adding.on_conflict_do_update(index_elements=columns, set_={"created_at": sa.func.statement_timestamp()})


def _adding(
    by: Caller | None, user_ids: Collection[int], action: Action, reason: str | None, day: date | None
) -> Insert:
    """A row for each of these people but `by`, who is among them or not.

    They are locked in the order of their ids, as by everybody: whoever is being deleted is waited for, and is no more.
    """
    actor_id = by.id if by else None
    people = (
        sa.select(User.id)
        .where(User.id.in_({*user_ids, actor_id}))
        .order_by(User.id)
        .with_for_update(read=True, key_share=True)
        .cte("people")
    )
    actor = people.alias("actor")
    rows = sa.select(
        people.c.id,
        sa.select(actor.c.id).where(actor.c.id == actor_id).scalar_subquery(),
        sa.literal(_role(by, action), sa.Text),
        sa.literal(action, sa.Text),
        sa.literal(reason, sa.Text),
        sa.literal(day, sa.Date),
    ).where(people.c.id.is_distinct_from(actor_id), people.c.id.in_(user_ids))
    return insert(AccessLogEntry).from_select(_COLUMNS, rows)


_COLUMNS = ["user_id", "actor_id", "actor_role", "action", "reason", "day"]


def _role(by: Caller | None, action: Action) -> RoleName | None:
    if by is None:
        return None
    if action in BY_CAREGIVERS:
        return RoleName.PENDAMPING
    return RoleName.SUPERADMIN if by.is_superadmin else RoleName.ADMIN
