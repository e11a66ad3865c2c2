"""Simulator of the video platform: the three reads of the YouTube Data API v3 that the service uses."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals, Simulator

KEY = "simulated-video-key"
DAILY_QUOTA = 10_000
COST = {"videos": 1, "playlistItems": 1, "search": 100}

#: Thumbnails of a video: file name, width, height in pixels.
SIZES = {
    "default": ("default", 120, 90),
    "medium": ("mqdefault", 320, 180),
    "high": ("hqdefault", 480, 360),
    "standard": ("sddefault", 640, 480),
    "maxres": ("maxresdefault", 1280, 720),
}

#: HTTP status and message of an error, by its reason.
ERRORS = {
    "quotaExceeded": (403, "The request cannot be completed because you have exceeded your quota."),
    "rateLimitExceeded": (429, "Too many requests in a short time."),
    "keyInvalid": (400, "API key not valid. Please pass a valid API key."),
    "forbidden": (403, "Method doesn't allow unregistered callers."),
    "accessNotConfigured": (403, "The API has not been used in this project before or it is disabled."),
    "playlistNotFound": (404, "The playlist identified with the playlistId parameter cannot be found."),
    "invalidFilters": (400, "The request specifies an invalid filter parameter."),
    "missingRequiredParameter": (400, "No filter selected."),
    "backendError": (500, "Internal error encountered."),
}


@dataclass
class Video:
    """One video.

    A private video is only in its channel's list. `maxres` is False if the thumbnail with the size `maxres` is missing.
    """

    id: str
    title: str
    channel_id: str = "UCkemenkesSimulasi0000001"
    channel_title: str = "Kanal Kesehatan"
    description: str = ""
    published_at: str = "2026-01-01T00:00:00Z"
    definition: str = "hd"
    maxres: bool = True
    duration: str = "PT4M13S"
    private: bool = False
    #: Fields that overwrite fields of the API's `snippet`, so that a test can use unusual values.
    extra: dict[str, Any] = field(default_factory=dict)

    def thumbnails(self, sizes: tuple[str, ...]) -> dict[str, Any]:
        thumbnails = {}
        for size in sizes:
            file, width, height = SIZES[size]
            thumbnails[size] = {
                "url": f"https://i.ytimg.com/vi/{self.id}/{file}.jpg",
                "width": width,
                "height": height,
            }
        return thumbnails

    def snippet(self, *, every_size: bool = True) -> dict[str, Any]:
        sizes: tuple[str, ...] = ("default", "medium", "high")
        if every_size and self.definition == "hd":
            sizes += ("standard", "maxres") if self.maxres else ("standard",)
        return {
            "publishedAt": self.published_at,
            "channelId": self.channel_id,
            "title": self.title,
            "description": self.description,
            "thumbnails": self.thumbnails(sizes),
            "channelTitle": self.channel_title,
            "liveBroadcastContent": "none",
        } | self.extra


def examples() -> list[Video]:
    """Return sample videos: HD with and without the size `maxres`, SD, private, and a channel with several pages."""
    return [
        Video("hdMaxres001", "Mengenal Diabetes Melitus"),
        Video("hdNoMaxres1", "Senam Jantung Sehat", maxres=False),
        Video("sdVideo0001", "Cuci Tangan Pakai Sabun", definition="sd"),
        Video("private0001", "Private video", private=True, published_at="2026-02-20T00:00:00Z"),
        *(
            Video(
                f"kanal{number:06d}",
                f"Edukasi Gizi #{number}",
                published_at=f"2026-02-{number % 28 + 1:02d}T0{number % 10}:00:00Z",
                definition="hd" if number % 2 else "sd",
            )
            for number in range(25)
        ),
    ]


class Videos(Simulator):
    """A video platform with a few videos. `units` is the used part of the API quota."""

    name = "videos"

    def __init__(self) -> None:
        super().__init__()
        self.catalogue: dict[str, Video] = {}
        self.units = 0
        self.quota = DAILY_QUOTA
        self.reset()

    def env(self) -> dict[str, str]:
        return {"VIDEO_KEY": KEY, "VIDEO_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/videos", endpoint="videos")(partial(self._charged, "videos", self._videos))
        blueprint.get("/playlistItems", endpoint="playlist")(partial(self._charged, "playlistItems", self._playlist))
        blueprint.get("/search", endpoint="search")(partial(self._charged, "search", self._search))

    def refusals(self) -> Refusals:
        return {reason: partial(refusal, reason) for reason in ERRORS}

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"add": self.add, "exhaust": self.exhaust}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.catalogue = {video.id: video for video in examples()}
            self.units = 0
            self.quota = DAILY_QUOTA

    def add(self, id: str, title: str, **values: Any) -> None:  # noqa: A002  # the platform's name
        with self.lock:
            self.catalogue[id] = Video(id, title, **values)

    def exhaust(self) -> None:
        with self.lock:
            self.units = self.quota

    def count(self, read: str) -> int:
        with self.lock:
            return sum(call.path == f"/{read}" for call in self.calls)

    def _charged(self, read: str, answer: Callable[[set[str]], ResponseReturnValue]) -> ResponseReturnValue:
        if not request.args.get("key"):
            return refusal("forbidden")
        if request.args["key"] != KEY:
            return refusal("keyInvalid")
        with self.lock:
            if self.units + COST[read] > self.quota:
                return refusal("quotaExceeded")
            self.units += COST[read]
            return answer(set(request.args.get("part", "").split(",")))

    def _videos(self, parts: set[str]) -> ResponseReturnValue:
        ids = [part for part in request.args.get("id", "").split(",") if part]
        if not ids:
            return refusal("missingRequiredParameter")
        if len(ids) > 50:
            return refusal("invalidFilters")
        videos = [self.catalogue[id] for id in dict.fromkeys(ids) if id in self.catalogue]  # noqa: A001
        items = []
        for video in videos:
            if video.private:
                continue
            item: dict[str, Any] = {"kind": "youtube#video", "etag": "e", "id": video.id}
            if "snippet" in parts:
                item["snippet"] = video.snippet()
            if "contentDetails" in parts:
                details = {"duration": video.duration, "definition": video.definition, "dimension": "2d"}
                item["contentDetails"] = details
            items.append(item)
        return page("youtube#videoListResponse", items)

    def _playlist(self, parts: set[str]) -> ResponseReturnValue:
        playlist = request.args.get("playlistId", "")
        uploads = [video for video in self.catalogue.values() if "UU" + video.channel_id[2:] == playlist]
        if not uploads:
            return refusal("playlistNotFound")
        uploads.sort(key=lambda video: video.published_at, reverse=True)
        items = []
        for position, video in enumerate(uploads[: self._page_size()]):
            item: dict[str, Any] = {"kind": "youtube#playlistItem", "etag": "e", "id": f"item-{video.id}"}
            if "snippet" in parts:
                place = {"playlistId": playlist, "position": position}
                resource = {"resourceId": {"kind": "youtube#video", "videoId": video.id}}
                item["snippet"] = video.snippet() | place | resource
            if "contentDetails" in parts:
                item["contentDetails"] = {"videoId": video.id, "videoPublishedAt": video.published_at}
            items.append(item)
        return page("youtube#playlistItemListResponse", items)

    def _search(self, parts: set[str]) -> ResponseReturnValue:
        words = request.args.get("q", "").lower().split()
        videos = [
            video
            for video in self.catalogue.values()
            if not video.private and all(word in video.title.lower() for word in words)
        ]
        items = []
        for video in videos[: self._page_size()]:
            resource = {"kind": "youtube#video", "videoId": video.id}
            item: dict[str, Any] = {"kind": "youtube#searchResult", "id": resource}
            if "snippet" in parts:
                # As in the real API, only search results have HTML escapes in their titles. Search results also lack
                # the larger thumbnails.
                snippet = video.snippet(every_size=False)
                item["snippet"] = snippet | {"title": html.escape(str(snippet["title"]))}
            items.append(item)
        return page("youtube#searchListResponse", items)

    def _page_size(self) -> int:
        return min(max(int(request.args.get("maxResults", "5")), 0), 50)


def page(kind: str, items: list[dict[str, Any]]) -> ResponseReturnValue:
    info = {"totalResults": len(items), "resultsPerPage": len(items)}
    return {"kind": kind, "etag": "e", "items": items, "pageInfo": info}


def refusal(reason: str) -> ResponseReturnValue:
    status, message = ERRORS[reason]
    errors = [{"message": message, "domain": "youtube", "reason": reason}]
    return {"error": {"code": status, "message": message, "errors": errors}}, status
