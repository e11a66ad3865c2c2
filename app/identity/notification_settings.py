"""Notification settings of people: messages, pushes, quiet hours and broadcasts.

A person without a row in the table gets messages and pushes at any hour. The choice about broadcasts is stored only in
`User.accepts_broadcasts`. The routes for settings, consents and preferences all read and write this column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, db
from app.core.lib import provinces
from app.identity import consents, dependents, preferences
from app.identity.consents import ConsentSource, Purpose
from app.identity.models import User


class NotificationSettings(Base):
    __tablename__ = "notification_settings"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    messages: Mapped[bool] = mapped_column(server_default=sa.true())
    push: Mapped[bool] = mapped_column(server_default=sa.true())
    quiet_start: Mapped[time | None] = mapped_column(
        comment="local time of the person; later than quiet_end if the quiet hours include midnight"
    )
    quiet_end: Mapped[time | None]

    __table_args__ = (
        sa.CheckConstraint("(quiet_start IS NULL) = (quiet_end IS NULL)", name="quiet_hours_have_two_ends"),
    )


@dataclass(frozen=True)
class DeliveryPreferences:
    """A person's settings and province, for the code that sends messages and pushes."""

    messages: bool = True
    push: bool = True
    quiet_start: str | None = None
    quiet_end: str | None = None
    domicile: str | None = None

    def quiet_until(self, now: datetime) -> datetime | None:
        if self.quiet_start is None or self.quiet_end is None:
            return None
        start, end = time.fromisoformat(self.quiet_start), time.fromisoformat(self.quiet_end)
        return quiet_until(start, end, zone_of(self.domicile), now)


def delivery_preferences_of(user_id: sa.ColumnElement[int | None]) -> sa.ColumnElement[object]:
    """Return an SQL expression for a person's `DeliveryPreferences` as a JSON array.

    `user_id` is a column or a literal. The value is null for a person without stored settings. For a dependent, the
    array has the settings of the caregiver, because the caregiver receives all messages.
    """
    of_row = (
        NotificationSettings.messages,
        NotificationSettings.push,
        NotificationSettings.quiet_start,
        NotificationSettings.quiet_end,
        User.domicile,
    )
    said = (
        sa.select(sa.func.json_build_array(*of_row, type_=sa.JSON))
        .join(User, User.id == NotificationSettings.user_id)
        .where(NotificationSettings.user_id == dependents.receiver_of(user_id))
        .scalar_subquery()
    )
    # Disable messages and pushes for a person who has requested erasure, until they cancel the request.
    nothing = sa.func.json_build_array(sa.false(), sa.false(), sa.null(), sa.null(), sa.null(), type_=sa.JSON)
    leaving = sa.select(nothing).where(User.id == user_id, User.erasure_due_at.is_not(None)).scalar_subquery()
    return sa.func.coalesce(leaving, said, type_=sa.JSON)


def delivery_preferences(user_id: int) -> DeliveryPreferences:
    values = db.session.scalar(sa.select(delivery_preferences_of(sa.literal(user_id))))
    return DeliveryPreferences(*values) if isinstance(values, list) else DeliveryPreferences()


def get(user_id: int) -> NotificationSettings:
    """Return a person's settings, or the defaults if none are stored."""
    row = db.session.get(NotificationSettings, user_id, populate_existing=True)
    return row or NotificationSettings(user_id=user_id, messages=True, push=True)


def switch_messages(user_id: int, on: bool) -> None:
    """Switch messages on or off. This also applies to messages in the queue.

    Messages that a person requests, such as codes, are always sent.
    """
    save(user_id, messages=on)


def switch_broadcasts(user_id: int, on: bool, *, way: ConsentSource) -> None:
    """Switch broadcasts on or off. This also applies to broadcasts in the queue."""
    user = db.session.scalar(sa.select(User).where(User.id == user_id).with_for_update(key_share=True))
    if user is not None:
        set_broadcasts(user, on, way=way)


def set_broadcasts(user: User, on: bool, *, way: ConsentSource) -> None:
    """Do the same as `switch_broadcasts`, for a person whose row is locked already."""
    user.accepts_broadcasts = on
    user.preferences = preferences.with_broadcasts(user.preferences, accepted=on)
    db.session.flush()
    consents.record(user.id, {Purpose.BROADCASTS: on}, way)


def record_consents(user: User, sent: Mapping[str, bool], *, way: ConsentSource) -> set[Purpose]:
    """Record a person's consents. Return the purposes, except broadcasts, for which the answer changed.

    The person's row must be locked. A purpose that the client omits stays unchanged. A changed answer for broadcasts
    also switches broadcasts.
    """
    choices = {purpose: sent[purpose.value] for purpose in Purpose if purpose.value in sent}
    if Purpose.BROADCASTS in choices:
        set_broadcasts(user, choices.pop(Purpose.BROADCASTS), way=way)
    return consents.record(user.id, choices, way)


def save(user_id: int, **values: object) -> None:
    """Store these columns of a person's settings."""
    db.session.execute(
        insert(NotificationSettings)
        .values(user_id=user_id, **values)
        .on_conflict_do_update(index_elements=["user_id"], set_=values)
    )


def zone_of(domicile: str | None) -> ZoneInfo:
    return ZoneInfo(provinces.timezone(domicile or ""))


def quiet_until(start: time, end: time, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the end of the quiet hours that contain `now`, or None if `now` is outside quiet hours."""
    local = now.astimezone(zone)
    begun = datetime.combine(local.date(), start, zone)
    if begun > local:
        begun -= timedelta(days=1)
    ends = datetime.combine(begun.date(), end, zone)
    if end <= start:
        ends += timedelta(days=1)
    return ends if local < ends else None
