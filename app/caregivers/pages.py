"""The page behind an invitation's link, for somebody who has not heard of the service yet: what it is, and what to do.

Chat previews fetch it and it may be forwarded, so it names nobody, and showing it changes nothing.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from app.caregivers import invitations, notices
from app.core.errors import AppError
from app.core.lib import clock
from app.core.settings import settings
from app.core.web.rate_limits import limit
from app.core.web.small_pages import SmallPages, small_page

bp = SmallPages("undangan_page", __name__)

TITLE = "Undangan menjadi pendamping"


@bp.get("/undangan/<code>")
@limit("60 per minute; 300 per hour")
def show_invitation(code: str) -> Response:
    """What the invitation allows, until when, and how to take it."""
    try:
        invitation = invitations.look(code)
    except AppError as error:
        return small_page("undangan.html", error.status, title=TITLE, problem=error.message)
    last = invitation.expires_at.astimezone(clock.JAKARTA)
    return small_page(
        "undangan.html",
        HTTPStatus.OK,
        title=TITLE,
        may=[words for scope, words in notices.MAY.items() if scope in invitation.scopes],
        code=code,
        until=f"{clock.day_text(last)} pukul {last:%H.%M} WIB",
        address=settings.frontend_url,
    )
