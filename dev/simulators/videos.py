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

#: File names of a video's thumbnails. Only HD videos have the last two, and some HD videos lack `maxres`.
SIZES = {"default": "default", "medium": "mqdefault", "high": "hqdefault", "standard": "sddefault"}
SIZES["maxres"] = "maxresdefault"

#: HTTP status of an error, by its reason.
ERRORS = {
    "quotaExceeded": 403, "rateLimitExceeded": 429, "keyInvalid": 400, "forbidden": 403, "accessNotConfigured": 403,
    "playlistNotFound": 404, "backendError": 500,
}  # fmt: skip


@dataclass
class Video:
    """One video. A private video is only in its channel's list."""

    id: str
    title: str
    published_at: str = "2026-01-01T00:00:00Z"
    definition: str = "hd"
    maxres: bool = True
    private: bool = False
    #: Fields that overwrite fields of the API's `snippet`, so that a test can use unusual values.
    extra: dict[str, Any] = field(default_factory=dict)

    def item(self, id_: object, *, sizes: int = 5) -> dict[str, Any]:
        """Return the API's item about this video, with `sizes` thumbnails at most."""
        sizes = min(sizes, 3 if self.definition == "sd" else 5 if self.maxres else 4)
        address = f"https://i.ytimg.com/vi/{self.id}/{{}}.jpg"
        snippet = {
            "publishedAt": self.published_at,
            "channelId": "UCkemenkesSimulasi0000001",
            "channelTitle": "Kanal Kesehatan",
            "title": self.title,
            "thumbnails": {size: {"url": address.format(file)} for size, file in [*SIZES.items()][:sizes]},
        }
        details = {"videoId": self.id, "duration": "PT4M13S", "definition": self.definition}
        return {"id": id_, "snippet": snippet | self.extra, "contentDetails": details}


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
    """A video platform with one channel. `units` is the used part of the API quota."""

    name = "videos"

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def env(self) -> dict[str, str]:
        return {"VIDEO_KEY": KEY, "VIDEO_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        for read, answer in (("videos", self._videos), ("playlistItems", self._playlist), ("search", self._search)):
            blueprint.get(f"/{read}", endpoint=read)(partial(self._charged, read, answer))

    def refusals(self) -> Refusals:
        return {reason: partial(refusal, reason) for reason in ERRORS}

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"add": self.add, "exhaust": self.exhaust}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.catalogue = {video.id: video for video in examples()}
            self.units = 0

    def add(self, id: str, title: str, **values: Any) -> None:  # noqa: A002  # the platform's name
        with self.lock:
            self.catalogue[id] = Video(id, title, **values)

    def exhaust(self) -> None:
        with self.lock:
            self.units = DAILY_QUOTA

    def count(self, read: str) -> int:
        with self.lock:
            return sum(call.path == f"/{read}" for call in self.calls)

    def _charged(self, read: str, answer: Callable[[], list[dict[str, Any]] | None]) -> ResponseReturnValue:
        if request.args.get("key") != KEY:
            return refusal("keyInvalid")
        with self.lock:
            if self.units + COST[read] > DAILY_QUOTA:
                return refusal("quotaExceeded")
            self.units += COST[read]
            items = answer()
        return refusal("playlistNotFound") if items is None else {"items": items}

    def _public(self) -> list[Video]:
        return [video for video in self.catalogue.values() if not video.private]

    def _videos(self) -> list[dict[str, Any]]:
        ids = request.args.get("id", "").split(",")
        return [video.item(video.id) for video in self._public() if video.id in ids]

    def _playlist(self) -> list[dict[str, Any]] | None:
        if request.args.get("playlistId") != "UUkemenkesSimulasi0000001":
            return None
        uploads = sorted(self.catalogue.values(), key=lambda video: video.published_at, reverse=True)
        return [video.item(f"item-{video.id}") for video in uploads[: page_size()]]

    def _search(self) -> list[dict[str, Any]]:
        words = request.args.get("q", "").lower().split()
        found = [video for video in self._public() if all(word in video.title.lower() for word in words)]
        items = [video.item({"videoId": video.id}, sizes=3) for video in found[: page_size()]]
        for item in items:  # as in the real API, only search results have HTML escapes in their titles
            item["snippet"]["title"] = html.escape(str(item["snippet"]["title"]))
        return items


def page_size() -> int:
    return min(int(request.args.get("maxResults", "5")), 50)


def refusal(reason: str) -> ResponseReturnValue:
    return {"error": {"code": ERRORS[reason], "errors": [{"reason": reason}]}}, ERRORS[reason]
