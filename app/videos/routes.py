"""Routes of videos: live from the video platform, and stored ones."""

from __future__ import annotations

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.caching import cached
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, PageSchema, Search, SearchSchema
from app.core.web.rate_limits import limit
from app.identity.access import authenticated, by_caller, caller, caller_id, optional, requires
from app.identity.models import RoleName
from app.saved.schemas import IsSaved
from app.videos import schemas, service
from app.videos.service import SavedRow, VideoRow

bp = Blueprint("videos", __name__, url_prefix="/videoplatform", description="Videos, live or stored")


@bp.get("/videos")
@optional
@cached(60)
@bp.arguments(SearchSchema, location="query")
@bp.response(200, schemas.StoredVideo(many=True))
def list_videos(search: Search) -> Listing[VideoRow]:
    """List stored videos, newest first. `q` searches title and channel.

    The total of a filtered list is at most 10,000.
    """
    return service.list_all(search, caller_id())


@bp.get("/videos/<int:video_id>")
@optional
@cached(60)
@bp.response(200, schemas.StoredVideo)
def get_video(video_id: int) -> VideoRow:
    """Return one stored video."""
    return service.get(video_id, caller_id())


@bp.get("/videos/<string:video_id>/detail")
@optional
@cached(60)
@limit("60 per minute")
@bp.response(200, schemas.Video)
def get_live_video(video_id: str) -> dict[str, object]:
    """Return one video live from the platform, by the platform's id or by the id of a stored video."""
    return service.get_live(video_id, caller_id())


@bp.get("/channel/<string:channel_id>")
@optional
@cached(60)
@limit("60 per minute")
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.Video(many=True))
def list_channel(page: Page, channel_id: str) -> Listing[dict[str, object]]:
    """List the latest 20 videos of a channel, newest first."""
    return service.list_channel(channel_id, page, caller_id())


@bp.get("/search")
@optional
@cached(60)
@limit("30 per minute")
@bp.arguments(PageSchema, location="query")
@bp.arguments(schemas.VideoSearch, location="query")
@bp.response(200, schemas.Video(many=True))
def search_videos(page: Page, query: dict[str, str]) -> Listing[dict[str, object]]:
    """Search the platform's videos, best match first."""
    return service.search(query["q"], page, caller_id())


@bp.post("/save")
@authenticated
@limit("120 per minute; 2000 per day", key=by_caller)  # limited, because each call may add a permanent row
@bp.arguments(schemas.VideoSave)
@bp.response(200, IsSaved)
def save_video(data: Loaded) -> dict[str, bool]:
    """Save a video, or remove it if it is saved."""
    return {"is_saved": service.toggle_save(caller.id, data)}


@bp.get("/saved")
@authenticated
@bp.arguments(PageSchema, location="query")
@bp.response(200, schemas.SavedVideo(many=True))
def list_saved_videos(page: Page) -> Listing[SavedRow]:
    """List the videos that the caller saved, latest first."""
    return service.list_saved(caller.id, page)


@bp.post("/video")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoCreate)
@bp.loaded_first(schemas.VideoCreate, service.fetch_new)
@bp.response(201, schemas.StoredVideo)
def create_video(data: Loaded) -> VideoRow:
    """Add a video by the platform's id. It is announced to all users later."""
    return service.create(data, caller.id)


@bp.put("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.arguments(schemas.VideoUpdate)
@bp.loaded_first(schemas.VideoUpdate, service.fetch_changes)
@bp.response(200, schemas.StoredVideo)
def update_video(data: Loaded, video_id: int) -> VideoRow:
    """Update a video. Fields that are not sent stay unchanged."""
    return service.update(video_id, data, caller.id)


@bp.delete("/video/<int:video_id>")
@requires(RoleName.ADMIN)
@bp.response(200, MessageSchema)
def delete_video(video_id: int) -> dict[str, str]:
    """Delete a video."""
    service.delete(video_id)
    return {"message": "Video dihapus."}
