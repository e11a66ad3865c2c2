"""Videos, live and stored, and the videos that a user saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from app.core.database.session import AnySelect, assign, db, get_locked_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, NotFound
from app.core.lib.urls import canonical
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, containing, paginate_rows
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import rendering
from app.notifications.models import About
from app.providers.videos import PlatformVideo as LiveVideo
from app.videos import live
from app.videos.models import SavedVideo, Video, videos
from app.videos.schemas import VideoFilter

NOT_FOUND = live.NOT_FOUND
CONSTRAINTS: dict[str, AppError] = {"uq_videos_video_id": Conflict("Video itu sudah ada.", code="video_exists")}
ANNOUNCEMENT = "Video baru: {title}"

#: Hosts of the platform's thumbnails.
PICTURE_HOSTS = ("ytimg.com", "ggpht.com")

#: A row with the columns of a video and `is_saved`.
VideoRow = sa.Row[*tuple[object, ...]]
#: A row of a saved video: id (null if the video is not stored), video_id, title, channel_title, thumbnail, is_saved,
#: saved_at.
SavedRow = sa.Row[*tuple[object, ...]]


def list_all(search: VideoFilter, user_id: int | None) -> Listing[VideoRow]:
    """Return stored videos, newest first. `search.q` is a part of the title or channel."""
    query = _with_is_saved(user_id).order_by(Video.id.desc())
    if search.q:
        query = query.where(containing(search.q, Video.title, Video.channel_title))
    if search.channel_id is not None:
        query = query.where(Video.channel_id == search.channel_id)
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
    db.session.flush()


def toggle_save(user_id: int, data: Loaded) -> bool:
    """Save or remove a video. Return whether it is saved now.

    Each call locks the row and inverts its column `saved`. A double tap therefore saves the video and removes it again.
    """
    known = _known_thumbnail(data["video_id"])
    statement = insert(SavedVideo).values(
        user_id=user_id,
        video_id=data["video_id"],
        title=data["title"],
        channel_title=data["channel_title"],
        thumbnail=known or _platforms_own(data["thumbnail_url"]),
        saved=True,
    )
    new = statement.excluded
    toggle = statement.on_conflict_do_update(
        index_elements=["user_id", "video_id"],
        set_={
            "saved": ~SavedVideo.saved,
            "title": new.title,
            "channel_title": new.channel_title,
            "thumbnail": sa.func.coalesce(known, SavedVideo.thumbnail, new.thumbnail),
            "saved_at": sa.func.clock_timestamp(),
        },
    )
    return bool(db.session.scalar(toggle.returning(SavedVideo.saved)))


def list_saved(user_id: int, page: Page) -> Listing[SavedRow]:
    """Return the videos that a user saved, latest first."""
    query = (
        sa.select(
            Video.id,
            SavedVideo.video_id,
            SavedVideo.title,
            SavedVideo.channel_title,
            SavedVideo.thumbnail,
            SavedVideo.saved.label("is_saved"),
            SavedVideo.saved_at,
        )
        .outerjoin(Video, Video.video_id == SavedVideo.video_id)
        .where(SavedVideo.user_id == user_id, SavedVideo.saved)
        .order_by(SavedVideo.saved_at.desc(), SavedVideo.video_id)
    )
    return paginate_rows(query, page)


def _with_stored(live_videos: Sequence[LiveVideo], user_id: int | None) -> list[dict[str, object]]:
    """Return the platform's videos as rows with the id of the stored video and `is_saved` for this user."""
    if not live_videos:
        return []
    ids = sa.cast([video.video_id for video in live_videos], ARRAY(sa.Text))
    asked = sa.func.unnest(ids).table_valued("video_id", name="asked").render_derived()
    saved = (SavedVideo.video_id == asked.c.video_id) & (SavedVideo.user_id == user_id) & SavedVideo.saved
    query = (
        sa.select(asked.c.video_id, Video.id, SavedVideo.saved.is_not(None))
        .select_from(asked)
        .outerjoin(Video, Video.video_id == asked.c.video_id)
        .outerjoin(SavedVideo, saved)
    )
    stored = {video_id: (own_id, is_saved) for video_id, own_id, is_saved in db.session.execute(query)}
    return [_row(video, *stored[video.video_id]) for video in live_videos]


def _row(video: LiveVideo, own_id: int | None, is_saved: bool) -> dict[str, object]:
    return {**asdict(video), "published_at": _moment(video.published_at), "id": own_id, "is_saved": is_saved}


def _paged(live_videos: Sequence[LiveVideo], page: Page, user_id: int | None) -> Listing[dict[str, object]]:
    shown = live_videos[page.offset : page.offset + page.size]
    return Listing(_with_stored(shown, user_id), len(live_videos), page)


def _video_id_of(own_id: int) -> str | None:
    """Return the platform's id of a stored video. No transaction stays open, because a provider call may follow."""
    return db.session.scalar(sa.select(Video.video_id).where(Video.id == own_id))


def _known_thumbnail(video_id: str) -> str | None:
    video = live.cached(video_id)
    if video and video.thumbnail:
        return video.thumbnail
    return db.session.scalar(sa.select(Video.thumbnail).where(Video.video_id == video_id))


def _platforms_own(address: str | None) -> str | None:
    """Return the canonical form of a client's thumbnail address if it is on one of `PICTURE_HOSTS`."""
    try:
        url = canonical(address) if address else ""
    except ValueError:
        return None
    parts = urlsplit(url)
    own = any(parts.netloc == host or parts.netloc.endswith(f".{host}") for host in PICTURE_HOSTS)
    return url if parts.scheme == "https" and own else None


#: Renderer for the text of video announcements.
render = rendering.by_title(Video.id, Video.title, ANNOUNCEMENT)


def _about(video_id: int) -> About:
    return About("video", video_id)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _with_is_saved(user_id: int | None) -> AnySelect:
    if user_id is None:
        return sa.select(*videos.c, sa.false().label("is_saved"))
    saved = (SavedVideo.video_id == Video.video_id) & (SavedVideo.user_id == user_id)
    is_saved = sa.func.coalesce(SavedVideo.saved, sa.false()).label("is_saved")
    return sa.select(*videos.c, is_saved).outerjoin(SavedVideo, saved)
