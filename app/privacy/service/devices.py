"""Devices on which a person is logged in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from app.core.web.pagination import Listing, Page, paginate_rows
from app.identity import devices, sessions
from app.identity.models import LoginSession
from app.identity.sessions import Caller
from app.push.models import PushSubscription


@dataclass(frozen=True)
class Device:
    id: UUID
    name: str
    created_at: datetime
    last_used_at: datetime
    current: bool
    #: True if a browser of this session receives push notifications.
    notifications: bool


def list_own(caller: Caller, page: Page) -> Listing[Device]:
    """Return the caller's active sessions, the latest login first."""
    has_browser = sa.exists().where(PushSubscription.session_id == LoginSession.id)
    listing = paginate_rows(sessions.select_own(caller).add_columns(has_browser), page)
    rows = [
        Device(
            id=session.id,
            name=session.device or devices.UNKNOWN,
            created_at=session.created_at,
            last_used_at=session.last_used_at,
            current=session.id == caller.session_id,
            notifications=notifications,
        )
        for session, notifications in listing.rows
    ]
    return Listing(rows, listing.total, page)
