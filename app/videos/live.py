"""The platform's videos: asked as seldom as its quota wants, kept for when it says no."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from flask import current_app
from redis.exceptions import RedisError

from app.core.errors import NotFound, ProviderFailed
from app.core.jobs.queue import connection
from app.core.lib.clock import now
from app.core.settings import settings
from app.providers.cache import Cache
from app.providers.errors import answering
from app.providers.videos import QuotaExhausted, Video, VideoPlatform

T = TypeVar("T")

SEARCH_FRESH_S = 6 * 3600
CHANNEL_FRESH_S = 15 * 60
VIDEO_FRESH_S = 24 * 3600

MISSING = "Video tidak ditemukan."
NOT_CONFIGURED = "Layanan video belum diatur."

PAUSE = "videos:paused_until"


def _videos(rows: list[dict[str, str]]) -> list[Video]:
    return [Video(**row) for row in rows]


searches: Cache[list[Video]] = Cache("video_search", _videos, fresh_s=SEARCH_FRESH_S)
channels: Cache[list[Video] | None] = Cache(
    "video_channel", lambda rows: None if rows is None else _videos(rows), fresh_s=CHANNEL_FRESH_S
)
singles: Cache[Video | None] = Cache("video", lambda row: row and Video(**row), fresh_s=VIDEO_FRESH_S)


def one(video_id: str) -> Video:
    """A video by the platform's id."""
    platform = _platform()
    with answering():
        found = singles.get(video_id, _unless_paused(lambda: platform.one(video_id)))
    if found is None:
        raise NotFound(MISSING)
    return found


def channel(channel_id: str) -> list[Video]:
    """The latest videos of a channel, newest first."""
    platform = _platform()
    with answering():
        found = channels.get(channel_id, _unless_paused(lambda: platform.channel(channel_id)))
    if found is None:
        raise NotFound("Kanal tidak ditemukan.")
    return found


def search(text: str) -> list[Video]:
    """Videos that match, best first. Spelling in blanks and case makes no difference, for a search is dear."""
    platform = _platform()
    words = " ".join(text.lower().split())
    with answering():
        return searches.get(words, _unless_paused(lambda: platform.search(words)))


def kept(video_id: str) -> Video | None:
    """What the platform said of a video lately; nothing is asked."""
    return singles.peek(video_id)


def is_configured() -> bool:
    return settings.video_key is not None


def _platform() -> VideoPlatform:
    found: VideoPlatform | None = current_app.extensions.get("video_platform")
    if found is None:
        found = VideoPlatform.from_config(settings)
        if found is None:
            raise ProviderFailed(NOT_CONFIGURED, code="provider_not_configured")
        current_app.extensions["video_platform"] = found
    return found


def _unless_paused(load: Callable[[], T]) -> Callable[[], T]:
    """`load`, but not while the day's quota is known to be used up, by whichever process found out."""

    def guarded() -> T:
        if until := _paused_until():
            raise QuotaExhausted("videos", until)
        try:
            return load()
        except QuotaExhausted as error:
            _pause(error.until)
            raise

    return guarded


def _paused_until() -> datetime | None:
    try:
        kept_until = connection().get(PAUSE)
    except RedisError:
        kept_until = None
    text = kept_until.decode() if isinstance(kept_until, bytes) else current_app.extensions.get(PAUSE)
    until = datetime.fromisoformat(text) if text else None
    return until if until and until > now() else None


def _pause(until: datetime) -> None:
    current_app.extensions[PAUSE] = until.isoformat()  # for this process, should Redis be away
    try:
        connection().set(PAUSE, until.isoformat(), exat=int(until.timestamp()))
    except RedisError:
        return
