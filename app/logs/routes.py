"""Routes for activity logs of the client."""

from __future__ import annotations

from flask import request

from app.core.errors import Unauthorized
from app.core.web.blueprint import Blueprint
from app.core.web.dispatch import in_steps
from app.core.web.rate_limits import caller_address
from app.identity.access import public, sent_caller
from app.logs import schemas, stream

bp = Blueprint("logs", __name__, url_prefix="/log", description="Activity logs of the client")


@bp.post("/user-log")
@public
@in_steps
@bp.arguments(schemas.LogCreate)
@bp.response(202, schemas.LogStatus)
def create_user_log(data: dict[str, object]) -> dict[str, str]:
    """Queue a record of a user's activity.

    A sender may send 120 records per minute and 5,000 per day.
    """
    return _create("user", data)


@bp.post("/admin-log")
@public
@in_steps
@bp.arguments(schemas.LogCreate)
@bp.response(202, schemas.LogStatus)
def create_admin_log(data: dict[str, object]) -> dict[str, str]:
    """Queue a record of an administrator's activity. The limits of user logs apply."""
    return _create("admin", data)


def _create(log: str, data: dict[str, object]) -> dict[str, str]:
    try:
        caller = sent_caller()
    except Unauthorized:  # an invalid token does not reject the record
        caller = None
    sender = f"user:{caller.id}" if caller else f"address:{caller_address()}"
    stream.create(
        {
            **data,
            "log": log,
            "user_id": caller.id if caller else None,
            "remote_ip": request.remote_addr,
            "user_agent": request.user_agent.string[:500] or None,
        },
        sender,
    )
    return {"status": "queued"}
