"""Videos, live and stored, and the videos that a user saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

import sqlalchemy as sa

from app.core.database.session import AnySelect, assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, NotFound
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, Search, containing, paginate_rows
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.models import About
from app.providers.videos import PlatformVideo as LiveVideo
from app.saved import service as saved
from app.saved.models import Kind, Saved
from app.videos import live
from app.videos.models import Video, videos

NOT_FOUND = live.NOT_FOUND
CONSTRAINTS: dict[str, AppError] = {"uq_videos_video_id": Conflict("Video itu sudah ada.", code="video_exists")}
ANNOUNCEMENT = "Video baru: {title}"

#: A row with the columns of a video and `is_saved`.
VideoRow = sa.Row[*tuple[object, ...]]
#: A row of a saved video: id (null if the video is not stored), video_id, title, channel_title, thumbnail, is_saved,
#: saved_at.
SavedRow = sa.Row[*tuple[object, ...]]


def list_all(search: Search, user_id: int | None) -> Listing[VideoRow]:
    """Return stored videos, newest first. `search.q` is a part of the title or channel."""
    query = _with_is_saved(user_id).order_by(Video.id.desc())
    if search.q:
        query = query.where(containing(search.q, Video.title, Video.channel_title))
    return paginate_rows(query, search.page)


def get(video_id: int, user_id: int | None) -> VideoRow:
    row = db.session.execute(_with_is_saved(user_id).where(Video.id == video_id)).one_or_none()
    if row is None:
        raise NotFound(NOT_FOUND)
    return row


def get_live(video_id: str, user_id: int | None) -> dict[str, object]:
    """Return a video from the platform. `video_id` is the id of a stored video, or else the platform's id."""
    stored = None
    if video_id.isdecimal() and len(video_id) < 19:
        stored = _video_id_of(int(video_id))
    return _with_stored([live.get(stored or video_id)], user_id)[0]


def list_channel(channel_id: str, page: Page, user_id: int | None) -> Listing[dict[str, object]]:
    """Return the latest videos of a channel, newest first."""
    return _paged(live.list_channel(channel_id), page, user_id)


def search(text: str, page: Page, user_id: int | None) -> Listing[dict[str, object]]:
    """Return the platform's matching videos, best match first."""
    return _paged(live.search(text), page, user_id)


def fetch_new(data: Loaded) -> dict[str, object]:
    """Return the columns of a new video: the given fields, and the platform's values for missing ones.

    If no platform is configured, a title is enough.
    """
    if data.get("title") and not live.is_configured():
        nothing = dict.fromkeys(("channel_title", "channel_id", "thumbnail", "duration", "published_at"))
        return {**nothing, **data}
    video = live.get(data["video_id"])
    sent = {name: value for name, value in data.items() if value is not None}
    return {**asdict(video), "published_at": _moment(video.published_at), **sent}


def fetch_changes(data: Loaded, video_id: int) -> Mapping[str, object]:
    """Return the given fields. If they change `video_id`, add the platform's values for missing ones."""
    stored = _video_id_of(video_id)
    if stored is None:
        raise NotFound(NOT_FOUND)
    return fetch_new(data) if data.get("video_id") not in (None, stored) else data


def create(data: Loaded, user_id: int) -> VideoRow:
    """Store a video, and schedule its announcement to all users."""
    video = Video(**data)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(video)
    broadcasts.announce(_about(video.id))
    return get(video.id, user_id)


def update(video_id: int, data: Loaded, user_id: int) -> VideoRow:
    with map_constraint_errors(CONSTRAINTS):
        assign(get_locked_or_404(Video, video_id, NOT_FOUND), data)
    return get(video_id, user_id)


def delete(video_id: int) -> None:
    video = get_locked_or_404(Video, video_id, NOT_FOUND)
    broadcasts.withdraw(_about(video_id))
    db.session.delete(video)


def toggle_save(user_id: int, data: Loaded) -> bool:
    shown = {"title": data["title"], "channel_title": data["channel_title"], "thumbnail": data["thumbnail_url"]}
    return saved.toggle(user_id, Kind.VIDEO, data["video_id"], **shown)


def list_saved(user_id: int, page: Page) -> Listing[SavedRow]:
    """Return the videos that a user saved, latest first. Only stored videos have an id."""
    query = sa.select(
        Video.id,
        Saved.item.label("video_id"),
        Saved.title,
        Saved.channel_title,
        sa.func.coalesce(Saved.thumbnail, Video.thumbnail).label("thumbnail"),
        Saved.saved.label("is_saved"),
        Saved.saved_at,
    ).outerjoin(Video, Video.video_id == Saved.item)
    return paginate_rows(saved.listed(query, user_id, Kind.VIDEO), page)


def _with_stored(live_videos: Sequence[LiveVideo], user_id: int | None) -> list[dict[str, object]]:
    """Return the platform's videos as rows with the id of the stored video and `is_saved` for this user."""
    video_ids = [video.video_id for video in live_videos]
    stored = db.session.execute(sa.select(Video.video_id, Video.id).where(Video.video_id.in_(video_ids)))
    ids = {row.video_id: row.id for row in stored}
    own = saved.among(user_id, Kind.VIDEO, video_ids)
    return [
        {
            **asdict(video),
            "published_at": _moment(video.published_at),
            "id": ids.get(video.video_id),
            "is_saved": video.video_id in own,
        }
        for video in live_videos
    ]


def _paged(live_videos: Sequence[LiveVideo], page: Page, user_id: int | None) -> Listing[dict[str, object]]:
    shown = live_videos[page.offset : page.offset + page.size]
    return Listing(_with_stored(shown, user_id), len(live_videos), page)


def _video_id_of(own_id: int) -> str | None:
    """Return the platform's id of a stored video. No transaction stays open, because a provider call may follow."""
    return db.session.scalar(sa.select(Video.video_id).where(Video.id == own_id))


#: Renderer for the text of video announcements.
render = rendering.by_title(Video.id, Video.title, ANNOUNCEMENT)


def _about(video_id: int) -> About:
    return About("video", video_id)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _with_is_saved(user_id: int | None) -> AnySelect:
    return sa.select(*videos.c, saved.is_saved(user_id, Kind.VIDEO, Video.video_id))
