"""Logs."""

from __future__ import annotations

from typing import Any

from flask import request

from app.core.web.blueprint import Blueprint
from app.identity.access import public
from app.logs import jobs, schemas, service

__all__ = ["bp", "jobs"]  # the clock finds the section's jobs through its routes

bp = Blueprint("logs", __name__, url_prefix="/log", description="Activity logs of the client")


@bp.post("/user-log")
@public
@bp.arguments(schemas.LogSchema)
@bp.response(202, schemas.QueuedSchema)
def user_log(data: dict[str, Any]) -> dict[str, str]:
    """Queue a record of what a user did."""
    return _accept("user", data)


@bp.post("/admin-log")
@public
@bp.arguments(schemas.LogSchema)
@bp.response(202, schemas.QueuedSchema)
def admin_log(data: dict[str, Any]) -> dict[str, str]:
    """Queue a record of what an administrator did."""
    return _accept("admin", data)


def _accept(log: str, data: dict[str, Any]) -> dict[str, str]:
    service.accept(
        log,
        data,
        authorization=request.headers.get("Authorization"),
        remote_ip=request.remote_addr,
        agent=request.user_agent.string,
    )
    return {"status": "queued"}
