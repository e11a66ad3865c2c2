"""The access log: records of accesses to a person's data by other people. Each person can read the records about their
data at `/profile/akses`.

The audit log (`app.identity.audit`) is different. It shows administrators the actions of other administrators.
An entry is written in the transaction that reads or changes the data, so that the log cannot miss an access.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Impersonal, Personal, Rows
from app.core.database.session import Base, Created, db
from app.core.lib.local_time import today
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


class AccessAction(StrEnum):
    """The kind of access: which data of the person was read, or what was changed for them."""

    NIK_READ = "nik_read"
    #: An administrator opened the person's record with contacts, preferences and pseudonym.
    PROFILE_READ = "profile_read"
    #: An administrator read a list of people with their contacts.
    LISTED = "listed"
    #: An administrator read the list of people who missed doses for days.
    MISSED_LISTED = "missed_listed"
    #: An administrator downloaded a report or a table.
    EXPORT = "export"
    #: An administrator read the latest activities in the overview.
    ACTIVITY_READ = "activity_read"
    PSEUDONYM_LIFTED = "pseudonym_lifted"
    #: An administrator read the state of each message to the person, but not the texts.
    DELIVERIES_READ = "deliveries_read"
    #: An administrator removed the phone number from the person's account.
    NUMBER_FREED = "number_freed"
    #: A caregiver read the person's answers about doses.
    HISTORY_READ = "history_read"
    #: A caregiver read or changed the person's reminders.
    REMINDERS_READ = "reminders_read"
    REMINDERS_CHANGED = "reminders_changed"
    #: The caregiver of a dependent requested or downloaded an export of the dependent's data. A dependent is a person
    #: without a phone, and the caregiver manages the account. Only this caregiver can do the actions below.
    DATA_COPIED = "data_copied"
    ACCESS_READ = "access_read"
    CONSENTS_READ = "consents_read"
    CONSENTS_CHANGED = "consents_changed"
    ACCOUNT_DELETED = "account_deleted"
    ACCOUNT_RESTORED = "account_restored"


#: Actions of caregivers. The log shows the name of a caregiver, because it is no secret to the person.
BY_CAREGIVERS = frozenset(
    {
        AccessAction.HISTORY_READ,
        AccessAction.REMINDERS_READ,
        AccessAction.REMINDERS_CHANGED,
        AccessAction.DATA_COPIED,
        AccessAction.ACCESS_READ,
        AccessAction.CONSENTS_READ,
        AccessAction.CONSENTS_CHANGED,
        AccessAction.ACCOUNT_DELETED,
        AccessAction.ACCOUNT_RESTORED,
    }
)


class Covers(StrEnum):
    """The group of people whose data was accessed by one request."""

    EVERYBODY = "everybody"
    #: People who registered at or after `since` and before `until`.
    REGISTERED = "registered"
    #: People with a logged activity at or after `since` and before `until`.
    ACTIVE = "active"


class AccessLogEntry(Base, Created):
    """An access to one person's data."""

    __tablename__ = "access_log"
    __personal__ = Personal(
        of=("user_id",),
        # The export omits `actor_id`, because a person may read no more about the actor than `/profile/akses` shows.
        mentions=("actor_id",),
        export=Rows(without=("actor_id",)),
        erase=Delete(),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), comment="whose data was read")
    actor_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id", ondelete="SET NULL"),
        index=True,
        comment="who read the data; null: a deleted account, or the operator",
    )
    actor_role: Mapped[str | None] = mapped_column(
        comment="role of the reader at that time; null: the operator, by a command"
    )
    action: Mapped[str]
    reason: Mapped[str | None] = mapped_column(comment="reason given by the reader, unchanged")
    day: Mapped[date | None] = mapped_column(
        comment="date in Jakarta of an access that is recorded once a day; null: recorded every time"
    )

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
    """An access to the data of many people. Equal accesses on one day share one row.

    `created_at` is the time of the latest of these accesses. The row therefore covers everybody who had registered by
    that time.
    """

    __tablename__ = "bulk_accesses"
    __personal__ = Impersonal("It says as what somebody looked at how many, and names nobody")

    id: Mapped[int] = mapped_column(primary_key=True)
    actor_role: Mapped[str | None]
    action: Mapped[str]
    covers: Mapped[str]
    since: Mapped[datetime | None]
    until: Mapped[datetime | None]
    day: Mapped[date] = mapped_column(comment="date in Jakarta")

    __table_args__ = (
        sa.UniqueConstraint(
            "day", "action", "actor_role", "covers", "since", "until", postgresql_nulls_not_distinct=True
        ),
    )


def record(by: Caller | None, user_id: int, action: AccessAction, reason: str | None = None) -> None:
    """Record in the current transaction that `by` accessed this person's data.

    `by` is None for a command of the operator. A person's access to their own data is not recorded.
    """
    db.session.execute(_adding(by, [user_id], action, reason, None))


def record_today(by: Caller | None, user_ids: Collection[int], action: AccessAction) -> None:
    """Record an access to the data of these people, at most once a day for each person and action."""
    if user_ids:
        db.session.execute(
            _adding(by, user_ids, action, None, today()).on_conflict_do_nothing(
                index_elements=["user_id", "action", "day"], index_where=AccessLogEntry.day.is_not(None)
            )
        )


def record_many(
    by: Caller | None,
    action: AccessAction,
    covers: Covers,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> None:
    """Record an access to the data of all people in the group `covers`. Equal accesses on one day share one row.

    `since` and `until` limit the group by time. None means no limit.
    """
    db.session.execute(_adding_many(by, action, covers, since, until))


def _adding_many(
    by: Caller | None, action: AccessAction, covers: Covers, since: datetime | None, until: datetime | None
) -> Insert:
    values = {"covers": covers, "since": since, "until": until, "day": today()}
    adding = insert(BulkAccess).values(actor_role=_role(by, action), action=action, **values)
    columns = ["day", "action", "actor_role", "covers", "since", "until"]
    return adding.on_conflict_do_update(index_elements=columns, set_={"created_at": sa.func.statement_timestamp()})


def _adding(
    by: Caller | None, user_ids: Collection[int], action: AccessAction, reason: str | None, day: date | None
) -> Insert:
    """Return the statement that inserts one row for each of these people except `by`.

    The statement locks all these people in the order of their ids. This order prevents deadlocks with other code. If
    another transaction is deleting a person, the statement waits, and then inserts no row for this person.
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


def _role(by: Caller | None, action: AccessAction) -> RoleName | None:
    if by is None:
        return None
    if action in BY_CAREGIVERS:
        return RoleName.PENDAMPING
    return RoleName.SUPERADMIN if by.is_superadmin else RoleName.ADMIN
