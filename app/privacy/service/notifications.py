"""A person's preferences for notifications."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import BadRequest
from app.core.web.fields import Loaded
from app.identity import dependents, erasure, notification_settings, users
from app.identity.consents import ConsentSource
from app.identity.models import User
from app.identity.sessions import Caller
from app.pengingat.models import Pengingat


class ChannelNeeded(BadRequest):
    code = "channel_needed"
    message = "Selama Anda punya pengingat, pesan atau notifikasi web harus tetap menyala."


def get(caller: Caller) -> dict[str, object]:
    return _settings_of(users.get_own(caller))


def update(caller: Caller, changes: Loaded) -> dict[str, object]:
    """Update the caller's preferences. The new preferences also apply to queued deliveries.

    Raise `ChannelNeeded` if no channel would be left for the caller's reminders.
    """
    user = users.get_own(caller, to_change=True)
    before = _settings_of(user)
    columns: dict[str, object] = {name: changes[name] for name in ("messages", "push") if name in changes}
    if "quiet_hours" in changes:
        hours = changes["quiet_hours"]
        columns |= {"quiet_start": hours and hours["start"], "quiet_end": hours and hours["end"]}
    if columns:
        notification_settings.save(user.id, **columns)
    if "broadcasts" in changes and changes["broadcasts"] != user.accepts_broadcasts:
        notification_settings.set_broadcasts(user, changes["broadcasts"], way=ConsentSource.APP)
    settings = _settings_of(user)
    # Refuse only a change that switches off the last channel. If both channels are off already, for example after
    # BERHENTI PENGINGAT ("stop reminders"), allow the change.
    is_ending = (before["messages"] or before["push"]) and not (settings["messages"] or settings["push"])
    if is_ending and _has_reminders(user.id):
        raise ChannelNeeded
    return settings


def _settings_of(user: User) -> dict[str, object]:
    row = notification_settings.get(user.id)
    return {
        "messages": row.messages,
        "push": row.push,
        "quiet_hours": row.quiet_start and {"start": row.quiet_start, "end": row.quiet_end},
        "broadcasts": user.accepts_broadcasts,
    }


def _has_reminders(user_id: int) -> bool:
    """Return whether the person gets any reminders, for themselves or for a dependent."""
    people = dependents.is_received_by(User, user_id), erasure.IS_PRESENT
    return bool(db.session.scalar(sa.select(sa.exists().where(Pengingat.user_id == User.id, *people))))
