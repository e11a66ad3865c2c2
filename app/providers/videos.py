"""Client for the video platform (YouTube Data API v3).

Every value is checked for type and length here, and invalid values are dropped. Thumbnail addresses are taken from the
platform's responses and never built from the id of a video.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from app.providers.http import Http
from app.providers.responses import ProviderError, moment, one_line
from config import Config

#: Maximum ids in one call.
MAX_IDS = 50
LATEST = 20

#: Seconds for all calls of one request.
BUDGET_S = 6.0

VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{1,62}")
DURATION = re.compile(r"P[0-9DTHMSW.]{1,30}")


@dataclass(frozen=True, slots=True)
class PlatformVideo:
    """A video from the platform. `thumbnail` is chosen by `thumbnail_of`. `published_at` is in RFC 3339 format."""

    video_id: str
    title: str
    channel_id: str | None
    channel_title: str | None
    thumbnail: str | None
    duration: str | None
    published_at: str | None


class VideoPlatform:
    """The three calls that the service makes. Each may raise `ProviderError`."""

    def __init__(self, url: str, key: str, http: Http) -> None:
        self._url = url
        self._key = key
        self._http = http

    @classmethod
    def from_config(cls, config: Config) -> Self | None:
        """Return the client, or `None` without a key."""
        if config.video_key is None:
            return None
        return cls(config.video_url, config.video_key, Http("videos"))

    def one(self, video_id: str) -> PlatformVideo | None:
        """Return one video, or `None` for an unknown or private one. Costs 1 quota unit."""
        if not VIDEO_ID.fullmatch(video_id):
            return None
        videos = self._details([video_id], time.monotonic() + BUDGET_S)
        return videos[0] if videos else None

    def channel(self, channel_id: str) -> list[PlatformVideo] | None:
        """Return the latest 20 videos of a channel, newest first, or `None` for an unknown channel.

        Costs 2 quota units.
        """
        if not CHANNEL_ID.fullmatch(channel_id):
            return None
        stop = time.monotonic() + BUDGET_S
        query = {"part": "snippet,contentDetails", "playlistId": f"UU{channel_id[2:]}", "maxResults": LATEST}
        try:
            items = self._read("playlistItems", query, stop)
        except ProviderError as error:
            if error.status == 404:
                return None
            raise
        return self._details([_at(item, "contentDetails", "videoId") for item in items], stop)

    def search(self, text: str) -> list[PlatformVideo]:
        """Return at most 20 matching videos, best match first. Costs 101 quota units."""
        stop = time.monotonic() + BUDGET_S
        query = {"part": "snippet", "q": text, "type": "video", "maxResults": LATEST, "regionCode": "ID"}
        items = self._read("search", query, stop)
        return self._details([_at(item, "id", "videoId") for item in items], stop)

    def _details(self, ids: Iterable[object], stop: float) -> list[PlatformVideo]:
        """Return the videos with these ids in the same order.

        Only this call of the platform returns the `definition` of a video (`hd` or not) and unescaped titles.
        """
        possible = [each for each in dict.fromkeys(ids) if isinstance(each, str) and VIDEO_ID.fullmatch(each)]
        video_ids = possible[:MAX_IDS]
        if not video_ids:
            return []
        items = self._read("videos", {"part": "snippet,contentDetails", "id": ",".join(video_ids)}, stop)
        by_id = {video.video_id: video for item in items if (video := read_video(item))}
        return [by_id[each] for each in video_ids if each in by_id]

    def _read(self, read: str, query: dict[str, object], stop: float) -> list[object]:
        left = max(0.1, stop - time.monotonic())
        items = self._http.get_json(f"{self._url}/{read}", {**query, "key": self._key}, budget_s=left).get("items")
        if not isinstance(items, list):
            raise ProviderError(self._http.provider, "garbage")
        return items


def read_video(item: object) -> PlatformVideo | None:
    """Return the video of one `videos` item, or `None` without a valid id or title."""
    video_id, title = _at(item, "id"), one_line(_at(item, "snippet", "title"), 300)
    if not isinstance(video_id, str) or not VIDEO_ID.fullmatch(video_id) or title is None:
        return None
    channel_id, duration = _at(item, "snippet", "channelId"), _at(item, "contentDetails", "duration")
    return PlatformVideo(
        video_id=video_id,
        title=title,
        channel_id=channel_id if isinstance(channel_id, str) and CHANNEL_ID.fullmatch(channel_id) else None,
        channel_title=one_line(_at(item, "snippet", "channelTitle"), 200),
        thumbnail=thumbnail_of(item),
        duration=duration if isinstance(duration, str) and DURATION.fullmatch(duration) else None,
        published_at=moment(_at(item, "snippet", "publishedAt")),
    )


def thumbnail_of(item: object) -> str | None:
    """Return the address of the `maxres` thumbnail if the video is HD and has one.

    Otherwise return the address of the `high` thumbnail, or None.
    """
    sizes = ("maxres", "high") if _at(item, "contentDetails", "definition") == "hd" else ("high",)
    for size in sizes:
        address = _at(item, "snippet", "thumbnails", size, "url")
        if isinstance(address, str) and re.fullmatch(r"https://[!-~]{1,2000}", address):
            return address
    return None


def _at(value: object, *path: str) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
