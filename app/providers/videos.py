"""The video platform: YouTube Data API v3.

Its values are somebody else's data: each is typed and length-bound here, and what does not fit is left out. A
thumbnail is only ever an address that the platform itself gave.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from typing import Self
from zoneinfo import ZoneInfo

import orjson

from app.core.lib.clock import now, rfc3339
from app.providers.http import Http, policy_of
from app.providers.responses import ProviderError
from config import Config

#: The provider's day, after which its quota is full again.
PACIFIC = ZoneInfo("America/Los_Angeles")

#: The platform takes at most so many ids in one call.
MAX_IDS = 50
LATEST = 20

#: All calls for one answer together.
BUDGET_S = 7.0

VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{1,62}")
DURATION = re.compile(r"P[0-9DTHMSW.]{1,30}")

#: Reasons in an error's body. All of the first kind end with the provider's day.
OUT_OF_QUOTA = frozenset({"quotaExceeded", "dailyLimitExceeded"})
TOO_FAST = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})


class QuotaExhausted(ProviderError):
    """The day's quota is used up: no call is of use before `until`."""

    def __init__(self, provider: str, until: datetime) -> None:
        self.until = until
        wait = max(1.0, (until - now()).total_seconds())
        super().__init__(provider, "busy", retry_after=wait, reason="quota exhausted")


@dataclass(frozen=True, slots=True)
class Video:
    """A video as the platform tells it; `thumbnail` by the specification's rule, `published_at` RFC 3339."""

    video_id: str
    title: str
    channel_id: str | None
    channel_title: str | None
    thumbnail: str | None
    duration: str | None
    published_at: str | None


class VideoPlatform:
    """The three reads that the service makes. Each may raise `ProviderError`, of which `QuotaExhausted` is one."""

    def __init__(self, url: str, key: str, http: Http) -> None:
        self._url = url
        self._key = key
        self._http = http
        #: Until when its quota is used up, as far as this process has seen.
        self.paused_until: datetime | None = None

    @classmethod
    def from_config(cls, config: Config) -> Self | None:
        """`None` without a key."""
        if config.video_key is None:
            return None
        return cls(config.video_url, config.video_key, Http("videos", policy=policy_of(config, "video_url")))

    def one(self, video_id: str) -> Video | None:
        """One video; `None` for an unknown or private one. Costs 1 unit of the quota."""
        if not VIDEO_ID.fullmatch(video_id):
            return None
        videos = self._details([video_id], time.monotonic() + BUDGET_S)
        return videos[0] if videos else None

    def channel(self, channel_id: str) -> list[Video] | None:
        """The latest 20 videos of a channel, newest first; `None` for an unknown channel. Costs 2 units."""
        if not CHANNEL_ID.fullmatch(channel_id):
            return None
        stop = time.monotonic() + BUDGET_S
        query = {"part": "snippet,contentDetails", "playlistId": f"UU{channel_id[2:]}", "maxResults": LATEST}
        try:
            items = self._read("playlistItems", query, stop)
        except ProviderError as error:
            if error.status == 404 and reason_of(error) in ("playlistNotFound", None):
                return None
            raise
        return self._details([_at(item, "contentDetails", "videoId") for item in items], stop)

    def search(self, text: str) -> list[Video]:
        """At most 20 videos that match, best first. Costs 101 units."""
        stop = time.monotonic() + BUDGET_S
        query = {"part": "snippet", "q": text, "type": "video", "maxResults": LATEST, "regionCode": "ID"}
        items = self._read("search", query, stop)
        return self._details([_at(item, "id", "videoId") for item in items], stop)

    def _details(self, ids: Iterable[object], stop: float) -> list[Video]:
        """The videos of these ids, in this order. Only this read knows definitions, and its titles are not escaped."""
        possible = [each for each in dict.fromkeys(ids) if isinstance(each, str) and VIDEO_ID.fullmatch(each)]
        video_ids = possible[:MAX_IDS]
        if not video_ids:
            return []
        items = self._read("videos", {"part": "snippet,contentDetails", "id": ",".join(video_ids)}, stop)
        by_id = {video.video_id: video for item in items if (video := read_video(item))}
        return [by_id[each] for each in video_ids if each in by_id]

    def _read(self, read: str, query: dict[str, object], stop: float) -> list[object]:
        left = max(0.1, stop - time.monotonic())
        try:
            response = self._http.get_json(f"{self._url}/{read}", {**query, "key": self._key}, budget_s=left)
        except ProviderError as error:
            raise _meaning(error) from None
        items = response.get("items")
        if not isinstance(items, list):
            raise ProviderError(self._http.provider, "garbage")
        return items


def read_video(item: object) -> Video | None:
    """The video of one item of `videos`; `None` when it has no id or title."""
    video_id, title = _at(item, "id"), _text(_at(item, "snippet", "title"), 300)
    if not isinstance(video_id, str) or not VIDEO_ID.fullmatch(video_id) or title is None:
        return None
    channel_id, duration = _at(item, "snippet", "channelId"), _at(item, "contentDetails", "duration")
    return Video(
        video_id=video_id,
        title=title,
        channel_id=channel_id if isinstance(channel_id, str) and CHANNEL_ID.fullmatch(channel_id) else None,
        channel_title=_text(_at(item, "snippet", "channelTitle"), 200),
        thumbnail=thumbnail_of(item),
        duration=duration if isinstance(duration, str) and DURATION.fullmatch(duration) else None,
        published_at=_moment(_at(item, "snippet", "publishedAt")),
    )


def thumbnail_of(item: object) -> str | None:
    """`maxres` when the video is hd and has one, else `high`; never an address that was put together here."""
    sizes = ("maxres", "high") if _at(item, "contentDetails", "definition") == "hd" else ("high",)
    for size in sizes:
        address = _at(item, "snippet", "thumbnails", size, "url")
        if isinstance(address, str) and re.fullmatch(r"https://[!-~]{1,2000}", address):
            return address
    return None


def next_midnight(moment: datetime) -> datetime:
    """When the platform's next day begins."""
    tomorrow = moment.astimezone(PACIFIC).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=PACIFIC)


def reason_of(error: ProviderError) -> str | None:
    """The machine-readable reason in the body of the platform's error."""
    try:
        body = orjson.loads(error.response.body) if error.response else None
    except ValueError:
        return None
    first = _at(body, "error", "errors")
    reason = _at(first[0], "reason") if isinstance(first, list) and first else None
    return reason if isinstance(reason, str) else None


def _meaning(error: ProviderError) -> ProviderError:
    reason = reason_of(error)
    if reason in OUT_OF_QUOTA:
        return QuotaExhausted(error.provider, next_midnight(now()))
    if reason in TOO_FAST and error.permanent:  # it says "slow down" with a 403 too
        return ProviderError(error.provider, "status", retry_after=error.retry_after, response=error.response)
    return error


def _at(value: object, *path: str) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: object, limit: int) -> str | None:
    """One line of printable text, cut to `limit`; `None` when nothing is left."""
    if not isinstance(value, str):
        return None
    line = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    return line[:limit] or None


def _moment(value: object) -> str | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    # Before, a year has fewer than four digits; and of the last day UTC may have no more.
    return rfc3339(moment) if moment and moment.tzinfo and 1900 <= moment.year < MAXYEAR else None
