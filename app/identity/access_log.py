"""The access log: records of accesses to a person's data by other people. Each person can read the records about their
data at `/profile/akses`.

Only a look at one person is recorded. Lists, exports and the SQL console leave no record. The audit log
(`app.identity.audit`) is different. It shows administrators the actions of other administrators.
An entry is written in the transaction that reads or changes the data, so that the log cannot miss an access.
"""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, db
from app.identity.models import RoleName, User
from app.identity.sessions import Caller


class AccessAction(StrEnum):
    """The kind of access: which data of the person was read, or what was changed for them."""

    NIK_READ = "nik_read"
    #: An administrator opened the person's record with contacts, preferences and pseudonym.
    PROFILE_READ = "profile_read"
    #: An administrator read the state of each message to the person, but not the texts.
    DELIVERIES_READ = "deliveries_read"
    #: An administrator removed the phone number from the person's account.
    NUMBER_FREED = "number_freed"
    #: A caregiver read the person's answers about doses.
    HISTORY_READ = "history_read"
    #: A caregiver read or changed the person's reminders.
    REMINDERS_READ = "reminders_read"
    REMINDERS_CHANGED = "reminders_changed"


#: Actions of caregivers. The log shows the name of a caregiver, because it is no secret to the person.
BY_CAREGIVERS = frozenset({AccessAction.HISTORY_READ, AccessAction.REMINDERS_READ, AccessAction.REMINDERS_CHANGED})


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
        comment="who read the data; null: a deleted account",
    )
    actor_role: Mapped[str] = mapped_column(comment="role of the reader at that time")
    action: Mapped[str]
    reason: Mapped[str | None] = mapped_column(comment="reason given by the reader, unchanged")

    __table_args__ = (sa.Index("ix_access_log_user_id", "user_id", "id"),)


def record(by: Caller, user_id: int, action: AccessAction, reason: str | None = None) -> None:
    """Record in the current transaction that `by` accessed this person's data.

    A person's access to their own data is not recorded.

    The statement locks both people in the order of their ids. This order prevents deadlocks with other code. If another
    transaction is deleting the person, the statement waits, and then inserts no row.
    """
    people = (
        sa.select(User.id)
        .where(User.id.in_({user_id, by.id}))
        .order_by(User.id)
        .with_for_update(read=True, key_share=True)
        .cte("people")
    )
    actor = people.alias("actor")
    row = sa.select(
        people.c.id,
        sa.select(actor.c.id).where(actor.c.id == by.id).scalar_subquery(),
        sa.literal(_role(by, action), sa.Text),
        sa.literal(action, sa.Text),
        sa.literal(reason, sa.Text),
    ).where(people.c.id == user_id, people.c.id.is_distinct_from(by.id))
    db.session.execute(sa.insert(AccessLogEntry).from_select(_COLUMNS, row))


_COLUMNS = ["user_id", "actor_id", "actor_role", "action", "reason"]


def _role(by: Caller, action: AccessAction) -> RoleName:
    if action in BY_CAREGIVERS:
        return RoleName.PENDAMPING
    return RoleName.SUPERADMIN if by.is_superadmin else RoleName.ADMIN
