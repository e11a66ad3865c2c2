"""The public page for invitation codes and handover codes. A web link with the code opens the page.

Chat apps show a preview of the page, and people forward the web link. Therefore the page contains no names, and a
request for the page changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus

from flask import Response

from app.caregivers import invitations, notices
from app.core.errors import Gone, NotFound
from app.core.lib import local_time
from app.core.settings import settings
from app.core.web.rate_limits import limit
from app.core.web.small_pages import SmallPages, error_page, small_page
from app.identity import dependents

bp = SmallPages("undangan_page", __name__)

TITLE = "Undangan menjadi pendamping"
HANDOVER_TITLE = "Serah terima akun"
ASK_AGAIN = "Mintalah undangan baru kepada pengirimnya."


@bp.get("/undangan/<code>")
@limit("60 per minute; 300 per hour")
def show_invitation(code: str) -> Response:
    """Show what the caregiver may do, when the code expires, and how to use the code."""
    try:
        invitation = invitations.get_open(code)
    except NotFound as error:
        if (handover := dependents.get_handover(code)) is not None:
            return _handover_page(code, handover.expires_at)
        is_over = invitations.is_over(code) or dependents.is_handover_over(code)
        found = Gone(invitations.OVER) if is_over else error
        return error_page(found.status, f"{found.message} {ASK_AGAIN}", address=settings.frontend_url)
    return small_page(
        "undangan.html",
        HTTPStatus.OK,
        title=TITLE,
        may=[words for scope, words in notices.MAY.items() if scope in invitation.scopes],
        code=code,
        until=_until(invitation.expires_at),
        address=settings.frontend_url,
    )


def _handover_page(code: str, expires_at: datetime) -> Response:
    values = {"code": code, "until": _until(expires_at), "address": settings.frontend_url}
    return small_page("serah_terima.html", HTTPStatus.OK, title=HANDOVER_TITLE, **values)


def _until(moment: datetime) -> str:
    last = moment.astimezone(local_time.JAKARTA)
    return f"{local_time.day_text(last)} pukul {last:%H.%M} WIB"
