"""Stored videos and what people saved; the platform's own are in `app.videos.live`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from app.core.database.session import Fields, assign, db, get_or_404, translating
from app.core.errors import AppError, Conflict, NotFound
from app.core.lib.urls import canonical
from app.core.web.pagination import Listing, Page, paginate_rows
from app.notifications.broadcasts import service as broadcasts
from app.providers.videos import Video as Found
from app.videos import live
from app.videos.models import SavedVideo, Video, videos

BROKEN: dict[str, AppError] = {"uq_videos_video_id": Conflict("Video itu sudah ada.", code="video_exists")}
ANNOUNCEMENT = "Video baru: {title}"

#: Hosts that the platform serves its pictures from.
PICTURE_HOSTS = ("ytimg.com", "ggpht.com")


def list_videos(page: Page, user_id: int | None) -> Listing[Any]:
    """Stored videos, newest first."""
    return paginate_rows(_shown(user_id).order_by(Video.id.desc()), page)


def get_video(video_id: int, user_id: int | None) -> Any:
    row = db.session.execute(_shown(user_id).where(Video.id == video_id)).one_or_none()
    if row is None:
        raise NotFound(live.MISSING)
    return row


def get_live_video(video_id: str, user_id: int | None) -> dict[str, Any]:
    """A video as the platform tells it; by our id when one is stored under that, else by the platform's."""
    stored = None
    if video_id.isdecimal() and len(video_id) < 19:
        stored = db.session.scalar(sa.select(Video.video_id).where(Video.id == int(video_id)))
    return with_ours([live.one(stored or video_id)], user_id)[0]


def list_channel(channel_id: str, page: Page, user_id: int | None) -> Listing[Any]:
    return _paged(live.channel(channel_id), page, user_id)


def search(text: str, page: Page, user_id: int | None) -> Listing[Any]:
    return _paged(live.search(text), page, user_id)


def create_video(data: dict[str, Any]) -> Any:
    """A new video, filled from the platform and told to everybody after a while."""
    video = Video(**_filled(data))
    with translating(BROKEN):
        db.session.add(video)
    text = ANNOUNCEMENT.format(title=video.title)
    broadcasts.announce(kind="video", subject=_subject(video.id), text=text)
    return get_video(video.id, None)


def update_video(video_id: int, data: dict[str, Any], user_id: int) -> Any:
    video = get_or_404(Video, video_id, live.MISSING)
    if data.get("video_id") not in (None, video.video_id):
        data = _filled(data)
    with translating(BROKEN):
        assign(video, data)
    return get_video(video_id, user_id)


def delete_video(video_id: int) -> None:
    broadcasts.withdraw(_subject(video_id))
    db.session.delete(get_or_404(Video, video_id, live.MISSING))
    db.session.flush()


def toggle_save(user_id: int, data: Fields) -> bool:
    """Save a video, or take it back; returns whether it is saved now. The key is the lock of a double tap."""
    thumbnail = _known_thumbnail(data["video_id"]) or _platforms_own(data["thumbnail_url"])
    statement = insert(SavedVideo).values(
        user_id=user_id,
        video_id=data["video_id"],
        title=data["title"],
        channel_title=data["channel_title"],
        thumbnail=thumbnail,
        saved=True,
    )
    new = statement.excluded
    flipped = statement.on_conflict_do_update(
        index_elements=["user_id", "video_id"],
        set_={
            "saved": ~SavedVideo.saved,
            "title": new.title,
            "channel_title": new.channel_title,
            "thumbnail": sa.func.coalesce(new.thumbnail, SavedVideo.thumbnail),
            "saved_at": sa.func.clock_timestamp(),
        },
    )
    return bool(db.session.scalar(flipped.returning(SavedVideo.saved)))


def list_saved(user_id: int, page: Page) -> Listing[Any]:
    """What a person saved, latest first."""
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


def with_ours(found: Sequence[Found], user_id: int | None) -> list[dict[str, Any]]:
    """The platform's videos with what we know of them: our id, and whether this person saved them."""
    ids = sa.cast([video.video_id for video in found], ARRAY(sa.Text))
    asked = sa.func.unnest(ids).table_valued("video_id", name="asked").render_derived()
    saved = (SavedVideo.video_id == asked.c.video_id) & (SavedVideo.user_id == user_id) & SavedVideo.saved
    query = (
        sa.select(asked.c.video_id, Video.id, SavedVideo.saved.is_not(None))
        .select_from(asked)
        .outerjoin(Video, Video.video_id == asked.c.video_id)
        .outerjoin(SavedVideo, saved)
    )
    ours = {video_id: (own_id, is_saved) for video_id, own_id, is_saved in db.session.execute(query)} if found else {}
    return [_row(video, *ours[video.video_id]) for video in found]


def _row(video: Found, own_id: int | None, is_saved: bool) -> dict[str, Any]:
    return {**asdict(video), "published_at": _moment(video.published_at), "id": own_id, "is_saved": is_saved}


def _paged(found: Sequence[Found], page: Page, user_id: int | None) -> Listing[Any]:
    return Listing(with_ours(found[page.offset : page.offset + page.size], user_id), len(found), page)


def _filled(data: Fields) -> dict[str, Any]:
    """What was sent over what the platform says; without a platform, a title is enough."""
    if data.get("title") and not live.is_configured():
        return {"channel_title": None, "channel_id": None, "thumbnail": None, "duration": None, **data}
    found = live.one(data["video_id"])
    sent = {name: value for name, value in data.items() if value is not None}
    return {**asdict(found), "published_at": _moment(found.published_at), **sent}


def _known_thumbnail(video_id: str) -> str | None:
    """What the platform itself said, here or lately."""
    kept = live.kept(video_id)
    if kept and kept.thumbnail:
        return kept.thumbnail
    return db.session.scalar(sa.select(Video.thumbnail).where(Video.video_id == video_id))


def _platforms_own(address: str | None) -> str | None:
    """An address that a client sends back, if it is on the platform's own picture hosts."""
    try:
        found = canonical(address) if address else ""
    except ValueError:
        return None
    parts = urlsplit(found)
    own = any(parts.netloc == host or parts.netloc.endswith(f".{host}") for host in PICTURE_HOSTS)
    return found if parts.scheme == "https" and own else None


def _subject(video_id: int) -> str:
    return f"video:{video_id}"


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _shown(user_id: int | None) -> sa.Select[Any]:
    """Videos as they are shown: with whether this person has saved them."""
    if user_id is None:
        return sa.select(*videos.c, sa.false().label("is_saved"))
    saved = (SavedVideo.video_id == Video.video_id) & (SavedVideo.user_id == user_id)
    is_saved = sa.func.coalesce(SavedVideo.saved, sa.false()).label("is_saved")
    return sa.select(*videos.c, is_saved).outerjoin(SavedVideo, saved)
