"""The page behind an invitation's link, for somebody who has not heard of the service yet: what it is, and what to do.

Chat previews fetch it and it may be forwarded, so it names nobody, and showing it changes nothing.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from app.caregivers import invitations, notices
from app.core.errors import Gone, NotFound
from app.core.lib import clock
from app.core.settings import settings
from app.core.web.rate_limits import limit
from app.core.web.small_pages import SmallPages, error_page, small_page

bp = SmallPages("undangan_page", __name__)

TITLE = "Undangan menjadi pendamping"
ASK_AGAIN = "Mintalah undangan baru kepada pengirimnya."


@bp.get("/undangan/<code>")
@limit("60 per minute; 300 per hour")
def show_invitation(code: str) -> Response:
    """What the invitation allows, until when, and how to take it."""
    try:
        invitation = invitations.look(code)
    except NotFound as error:
        found = Gone(invitations.OVER) if invitations.is_over(code) else error
        return error_page(found.status, f"{found.message} {ASK_AGAIN}", address=settings.frontend_url)
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
