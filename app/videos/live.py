"""Videos of the video platform, cached because its daily quota is small.

Stale values are used while the platform fails.
"""

from __future__ import annotations

from functools import cache

from app.core.errors import NotFound, ProviderFailed
from app.core.settings import current, settings
from app.providers.cache import Cache
from app.providers.errors import answering
from app.providers.videos import PlatformVideo, VideoPlatform

#: Seconds for which a cached result is fresh. Searches stay fresh for hours, because a search costs about 100 times the
#: quota of the other calls.
SEARCH_FRESH_S = 6 * 3600
CHANNEL_FRESH_S = 15 * 60
VIDEO_FRESH_S = 24 * 3600

NOT_FOUND = "Video tidak ditemukan."
CHANNEL_NOT_FOUND = "Kanal tidak ditemukan."
NOT_CONFIGURED = "Layanan video belum diatur."


def _videos(rows: list[dict[str, str]]) -> list[PlatformVideo]:
    return [PlatformVideo(**row) for row in rows]


searches: Cache[list[PlatformVideo]] = Cache("video_search", _videos, fresh_s=SEARCH_FRESH_S)
channels: Cache[list[PlatformVideo] | None] = Cache(
    "video_channel", lambda rows: None if rows is None else _videos(rows), fresh_s=CHANNEL_FRESH_S
)
singles: Cache[PlatformVideo | None] = Cache("video", lambda row: row and PlatformVideo(**row), fresh_s=VIDEO_FRESH_S)


client = cache(VideoPlatform.from_config)


def get(video_id: str) -> PlatformVideo:
    """Return a video by the platform's id."""
    platform = _platform()
    with answering():
        video = singles.get(video_id, lambda: platform.one(video_id))
    if video is None:
        raise NotFound(NOT_FOUND)
    return video


def list_channel(channel_id: str) -> list[PlatformVideo]:
    """Return the latest videos of a channel, newest first."""
    platform = _platform()
    with answering():
        videos = channels.get(channel_id, lambda: platform.channel(channel_id))
    if videos is None:
        raise NotFound(CHANNEL_NOT_FOUND)
    return videos


def search(text: str) -> list[PlatformVideo]:
    """Return matching videos, best match first.

    A search is costly, so texts that differ only in case and spaces share one cache key.
    """
    platform = _platform()
    words = " ".join(text.lower().split())
    with answering():
        return searches.get(words, lambda: platform.search(words))


def is_configured() -> bool:
    return settings.video_key is not None


def _platform() -> VideoPlatform:
    platform = client(current())
    if platform is None:
        raise ProviderFailed(NOT_CONFIGURED, code="provider_not_configured")
    return platform
