"""Devices on which a person is logged in."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.web.pagination import Listing, Page, paginate_rows
from app.identity import devices, sessions
from app.identity.models import LoginSession
from app.identity.sessions import Caller
from app.push.models import PushSubscription


def list_own(caller: Caller, page: Page) -> Listing[dict[str, object]]:
    """Return the caller's active sessions, the latest login first.

    `notifications` is true if a browser of the session receives push notifications.
    """
    has_browser = sa.exists().where(PushSubscription.session_id == LoginSession.id)
    listing = paginate_rows(sessions.select_own(caller).add_columns(has_browser), page)
    rows: list[dict[str, object]] = [
        {
            "id": session.id,
            "name": session.device or devices.UNKNOWN,
            "created_at": session.created_at,
            "last_used_at": session.last_used_at,
            "current": session.id == caller.session_id,
            "notifications": notifications,
        }
        for session, notifications in listing.rows
    ]
    return Listing(rows, listing.total, page)
