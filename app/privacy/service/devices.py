"""Where a person is signed in, and how they sign out from afar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.core.web.pagination import Listing, Page
from app.identity import devices, sessions
from app.identity.sessions import Caller


@dataclass(frozen=True)
class Device:
    id: UUID
    name: str
    created_at: datetime
    last_used_at: datetime
    current: bool


def list_own(caller: Caller, page: Page) -> Listing[Device]:
    """The caller's sessions that still live, the latest login first."""
    listing = sessions.list_own(caller, page)
    rows = [
        Device(row.id, row.device or devices.UNKNOWN, row.created_at, row.last_used_at, row.id == caller.session_id)
        for row in listing.rows
    ]
    return Listing(rows, listing.total, page)
