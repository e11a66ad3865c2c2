"""Videos: those of the video platform, live, and the stored ones."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, by_caller, caller, caller_id, optional, requires
from app.identity.models import RoleName
from app.videos import schemas, service
from app.videos.schemas import VideoFilter
from app.videos.service import SavedRow, VideoRow

bp = Blueprint("videos", __name__, url_prefix="/videoplatform", description="Videos: the platform's, live, and ours")


@bp.get("/videos")
@optional
@cached(60)
@bp.arguments(schemas.VideoFilterSchema, location="query")
@bp.response(200, schemas.StoredVideo(many=True))
def list_videos(search: VideoFilter) -> Listing[VideoRow]:
    """Stored videos, newest first; `q` looks into title and channel. Of a narrowed list at most 10,000 are counted."""
    return service.list_all(search, caller_id())


@bp.get("/videos/<int:video_id>")
@optional
@cached(60)
@bp.response(200, schemas.StoredVideo)
def get_video(video_id: int) -> VideoRow:
    """One stored video."""
    return service.get(video_id, caller_id())


@bp.get("/videos/<string:video_id>/detail")
@optional
@cached(60)
@limit("60 per minute")
@bp.response(200, schemas.Video)
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def get_live_video(video_id: str) -> dict[str, object]:
    """One video as the platform has it now; by the platform's id, or by ours of a stored one."""
    return service.get_live(video_id, caller_id())


@bp.get("/channel/<string:channel_id>")
@optional
@cached(60)
@limit("60 per minute")
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Video(many=True))
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def list_channel(page: Page, channel_id: str) -> Listing[dict[str, object]]:
    """The latest 20 videos of a channel, newest first."""
    return service.list_channel(channel_id, page, caller_id())


@bp.get("/search")
@optional
@cached(60)
@limit("30 per minute")
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.VideoSearch, location="query")
@bp.response(200, schemas.Video(many=True))
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def search_videos(page: Page, query: dict[str, str]) -> Listing[dict[str, object]]:
    """The platform's videos that match, best first."""
    return service.search(query["q"], page, caller_id())


@bp.post("/save")
@authenticated
@limit("120 per minute; 2000 per day", key=by_caller)  # each made-up one is a row for good
@bp.arguments(schemas.VideoSave)
@bp.response(200, schemas.VideoIsSaved)
def save_video(data: Loaded) -> dict[str, bool]:
    """Save a video, or take it back."""
    return {"is_saved": service.toggle_save(caller.id, data)}


@bp.get("/saved")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.SavedVideo(many=True))
def list_saved_videos(page: Page) -> Listing[SavedRow]:
    """What the caller saved, latest first."""
    return service.list_saved(caller.id, page)


@bp.post("/video")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoCreate)
@bp.response(201, schemas.StoredVideo)
@bp.alt_response(404, "NOT_FOUND")
@bp.alt_response(409, "CONFLICT")
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def create_video(data: Loaded) -> VideoRow:
    """Add a video by the platform's id; it is announced to everybody after a while."""
    return service.create(data, caller.id)


@bp.put("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoUpdate)
@bp.response(200, schemas.StoredVideo)
@bp.alt_response(409, "CONFLICT")
@bp.alt_response(502, "BAD_GATEWAY")
@bp.alt_response(504, "GATEWAY_TIMEOUT")
def update_video(data: Loaded, video_id: int) -> VideoRow:
    """Change a video; what is not sent stays."""
    return service.update(video_id, data, caller.id)


@bp.delete("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_video(video_id: int) -> dict[str, str]:
    """Delete a video."""
    service.delete(video_id)
    return {"message": "Video dihapus."}
