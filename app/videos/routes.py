"""Videos: those of the video platform, live, and the stored ones."""

from __future__ import annotations

from typing import Any

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.pagination import Page, PageSchema
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, caller, caller_id, optional, requires
from app.identity.models import RoleName
from app.videos import schemas, service

bp = Blueprint("videos", __name__, url_prefix="/videoplatform", description="Videos: the platform's, live, and ours")


@bp.get("/videos")
@optional
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.StoredVideoSchema(many=True))
def list_videos(page: Page) -> Any:
    """The stored videos, newest first."""
    return service.list_videos(page, caller_id())


@bp.get("/videos/<int:video_id>")
@optional
@bp.response(200, schemas.StoredVideoSchema)
def get_video(video_id: int) -> Any:
    """One stored video."""
    return service.get_video(video_id, caller_id())


@bp.get("/videos/<string:video_id>/detail")
@optional
@limit("60 per minute")
@bp.response(200, schemas.VideoSchema)
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def get_live_video(video_id: str) -> Any:
    """One video as the platform tells it now; by the platform's id, or by ours of a stored one."""
    return service.get_live_video(video_id, caller_id())


@bp.get("/channel/<string:channel_id>")
@optional
@limit("60 per minute")
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.VideoSchema(many=True))
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def list_channel(page: Page, channel_id: str) -> Any:
    """The latest 20 videos of a channel, newest first."""
    return service.list_channel(channel_id, page, caller_id())


@bp.get("/search")
@optional
@limit("30 per minute")
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.VideoSearchQuerySchema, location="query")
@bp.response(200, schemas.VideoSchema(many=True))
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def search(page: Page, query: dict[str, str]) -> Any:
    """The platform's videos that match, best first."""
    return service.search(query["q"], page, caller_id())


@bp.post("/save")
@authenticated
@bp.arguments(schemas.VideoSaveSchema)
@bp.response(200, schemas.VideoIsSavedSchema)
def toggle_save(data: dict[str, Any]) -> dict[str, bool]:
    """Save a video, or take it back."""
    return {"is_saved": service.toggle_save(caller.id, data)}


@bp.get("/saved")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.SavedVideoSchema(many=True))
def list_saved(page: Page) -> Any:
    """What the caller saved, latest first."""
    return service.list_saved(caller.id, page)


@bp.post("/video")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoForm)
@bp.response(201, schemas.StoredVideoSchema)
@bp.alt_response(404, "NOT_FOUND")
@bp.alt_response(409, "CONFLICT")
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def create_video(data: dict[str, Any]) -> Any:
    """Add a video by the platform's id; it is announced to everybody after a while."""
    return service.create_video(data)


@bp.put("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoEdit)
@bp.response(200, schemas.StoredVideoSchema)
@bp.alt_response(409, "CONFLICT")
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def update_video(data: dict[str, Any], video_id: int) -> Any:
    """Change a video; what is not sent stays."""
    return service.update_video(video_id, data, caller.id)


@bp.delete("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_video(video_id: int) -> dict[str, str]:
    """Delete a video."""
    service.delete_video(video_id)
    return {"message": "Video dihapus."}
