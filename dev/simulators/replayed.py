"""Simulators that replay the answers in `recorded`: places, videos, the ministry's site, captcha and heartbeat."""

from __future__ import annotations

import html
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, redirect, render_template, request
from flask.typing import ResponseReturnValue

from dev.distance import distance_km
from dev.simulators.base import Refusals, Simulator

RECORDED = Path(__file__).parent / "recorded"

KEY = "simulated-key"


def recorded(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RECORDED / name).read_text(encoding="utf-8"))
    return rows


class PlacesSearch(Simulator):
    """The legacy Places API. `delay_s` is the number of seconds until the token of the next page works.

    Its errors have HTTP status 200.
    """

    name = "places"
    refusals: ClassVar[Refusals] = {
        status: {"results": [], "status": status, "error_message": f"simulated: {status}"}
        for status in ("OVER_QUERY_LIMIT", "REQUEST_DENIED", "INVALID_REQUEST", "UNKNOWN_ERROR")
    }
    PAGE, PAGES = 20, 3

    def env(self) -> dict[str, str]:
        return {"PLACES_KEY": KEY, "PLACES_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/nearbysearch/json")(self._nearby)

    def reset(self) -> None:
        super().reset()
        self.delay_s = 2.0  # as in the real API
        #: Latitude, longitude and row of each place.
        self.facilities = [(*_position(row), row) for row in recorded("places.json")]
        #: Next pages by token: the time when the token works, the rows, and the number of the page.
        self._tokens: dict[str, tuple[float, list[dict[str, Any]], int]] = {}

    def add(self, place_id: str, name: str, lat: float, lng: float, extra: dict[str, Any]) -> None:
        """Add a place. `extra` overwrites fields of the response, so that a test can use unusual values."""
        position = {"geometry": {"location": {"lat": lat, "lng": lng}}}
        row = recorded("places.json")[0] | {"place_id": place_id, "name": name} | position | extra
        self.facilities.append((lat, lng, row))

    def searches(self) -> int:
        """Return the number of searches. Requests for further pages of a search do not count."""
        with self.lock:
            return sum("location" in call.query for call in self.calls)

    def _nearby(self) -> ResponseReturnValue:
        if request.args.get("key") != KEY:
            return self.refusals["REQUEST_DENIED"]
        if "pagetoken" in request.args:
            works_at, rows, page = self._tokens.get(request.args["pagetoken"], (float("inf"), [], 0))
            if time.monotonic() < works_at:
                return self.refusals["INVALID_REQUEST"]
        else:
            (lat, lng), radius_m = map(float, request.args["location"].split(",")), float(request.args["radius"])
            near = [row for *there, row in self.facilities if distance_km(lat, lng, *there) * 1000 <= radius_m]
            rows, page = near if request.args["type"] == "hospital" else [], 1
        answer: dict[str, Any] = {"results": rows[: self.PAGE], "status": "OK" if rows else "ZERO_RESULTS"}
        if page < self.PAGES and len(rows) > self.PAGE:
            token = answer["next_page_token"] = f"Aap_{time.monotonic_ns()}"
            self._tokens[token] = (time.monotonic() + self.delay_s, rows[self.PAGE :], page + 1)
        return answer


def _position(row: dict[str, Any]) -> tuple[float, float]:
    location = row["geometry"]["location"]
    return location["lat"], location["lng"]


class Videos(Simulator):
    """The YouTube Data API v3, with one channel. `units` is the used part of the API quota."""

    name = "videos"
    refusals: ClassVar[Refusals] = {
        reason: ({"error": {"code": status, "errors": [{"reason": reason}]}}, status)
        for reason, status in (
            ("quotaExceeded", 403),
            ("rateLimitExceeded", 429),
            ("keyInvalid", 400),
            ("accessNotConfigured", 403),
            ("playlistNotFound", 404),
            ("backendError", 500),
        )
    }
    DAILY_QUOTA = 10_000
    COST: ClassVar = {"videos": 1, "playlistItems": 1, "search": 100}
    PLAYLIST = "UUkemenkesSimulasi0000001"

    def env(self) -> dict[str, str]:
        return {"VIDEO_KEY": KEY, "VIDEO_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/<any(videos, playlistItems, search):read>")(self._replay)

    def reset(self) -> None:
        super().reset()
        self.catalogue = recorded("videos.json")
        self.units = 0

    def add(self, id_: str, **snippet: Any) -> None:
        """Add the newest video. `snippet` overwrites fields, so that a test can use unusual values."""
        known = self.catalogue[0]
        new = known["snippet"] | {"publishedAt": "2026-03-01T00:00:00Z"} | snippet
        self.catalogue.append(known | {"id": id_, "snippet": new})

    def exhaust(self) -> None:
        self.units = self.DAILY_QUOTA

    def count(self, read: str) -> int:
        with self.lock:
            return sum(call.path == f"/{read}" for call in self.calls)

    def _replay(self, read: str) -> ResponseReturnValue:
        if request.args.get("key") != KEY:
            return self.refusals["keyInvalid"]
        with self.lock:
            if self.units + self.COST[read] > self.DAILY_QUOTA:
                return self.refusals["quotaExceeded"]
            self.units += self.COST[read]
        size = int(request.args.get("maxResults", "50"))
        if read == "playlistItems":  # A private video is only in its channel's list.
            if request.args.get("playlistId") != self.PLAYLIST:
                return self.refusals["playlistNotFound"]
            newest = sorted(self.catalogue, key=lambda item: str(item["snippet"]["publishedAt"]), reverse=True)
            return {"items": [item | {"id": f"item-{item['id']}"} for item in newest[:size]]}
        public = [item for item in self.catalogue if not item["id"].startswith("private")]
        if read == "videos":
            return {"items": [item for item in public if item["id"] in request.args["id"].split(",")]}
        words = request.args["q"].lower().split()
        found = [item for item in public if all(word in item["snippet"]["title"].lower() for word in words)]
        return {"items": [_found(item) for item in found[:size]]}


def _found(item: dict[str, Any]) -> dict[str, Any]:
    """Return a search result. Only these have an escaped title, an object as id, and three thumbnails."""
    few = dict(list(item["snippet"]["thumbnails"].items())[:3])
    snippet = item["snippet"] | {"title": html.escape(item["snippet"]["title"]), "thumbnails": few}
    return {"id": {"videoId": item["id"]}, "snippet": snippet}


class Captcha(Simulator):
    """`siteverify` of reCAPTCHA, hCaptcha and Turnstile. It accepts each token with the prefix `human-` once.

    `solve` creates a token of any age. Errors have HTTP status 200.
    """

    name = "captcha"
    refusals: ClassVar[Refusals] = {
        code: {"success": False, "error-codes": [code]}
        for code in ("invalid-input-secret", "invalid-input-response", "timeout-or-duplicate", "bad-request")
    }
    LIFE_S = 120.0

    def env(self) -> dict[str, str]:
        return {"CAPTCHA_SECRET": KEY, "CAPTCHA_URL": f"{self.url}/siteverify"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post("/siteverify")(self._verify)

    def reset(self) -> None:
        super().reset()
        #: Times until tokens are valid. A used token has the time 0.
        self._valid_until: dict[str, float] = {}

    def solve(self, age_s: float = 0.0) -> str:
        token = f"human-{time.monotonic_ns()}"
        self._valid_until[token] = time.time() + self.LIFE_S - age_s
        return token

    def _verify(self) -> ResponseReturnValue:
        # Real captcha services read only form data, and ignore a JSON body.
        token = request.form.get("response", "")
        if request.form.get("secret") != KEY:
            return self.refusals["invalid-input-secret"]
        if not token.startswith("human-"):
            return self.refusals["invalid-input-response"]
        with self.lock:
            if self._valid_until.get(token, time.time()) < time.time():
                return self.refusals["timeout-or-duplicate"]
            self._valid_until[token] = 0
        return {"success": True, "hostname": "localhost"}


class Heartbeat(Simulator):
    """A heartbeat monitor with the API of healthchecks.io.

    `said` has a pair for each call: `success` or `fail`, and the body.
    """

    name = "heartbeat"
    refusals: ClassVar[Refusals] = {"unknown": ("(not found)", 404), "rate": ("(rate limited)", 429)}
    CHECK = "5c1a1d1e-0b7e-4d0a-9d7a-3a1f0e9b8c7d"

    def env(self) -> dict[str, str]:
        return {"HEARTBEAT_URL": f"{self.url}/{self.CHECK}"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post(f"/{self.CHECK}", defaults={"what": "success"})(self._hear)
        blueprint.post(f"/{self.CHECK}/<what>")(self._hear)

    def reset(self) -> None:
        super().reset()
        self.said: list[tuple[str, str]] = []

    def _hear(self, what: str) -> ResponseReturnValue:
        self.said.append((what, request.get_data(as_text=True)))
        return "OK"


@dataclass(frozen=True)
class Article:
    """One article of the ministry. Without `text`, the page has the recorded text about `subject`."""

    path: str
    title: str
    subject: str
    picture: str
    published: str
    text: str | None = None


class Ministry(Simulator):
    """The news pages of the ministry. `articles` contains the articles, newest first.

    `show` selects variants of the recorded pages (`list.html` and `article.html` name them) and of their charset.
    """

    name = "ministry"

    def env(self) -> dict[str, str]:
        return {"ARTICLE_SOURCE_URL": f"{self.url}/artikel", "ARTICLE_HOSTS": urlsplit(self.url).netloc}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.template_folder = str(RECORDED)
        blueprint.get("/artikel")(self._list)
        blueprint.get("/_redirect")(self._redirect)
        blueprint.get("/<path:path>")(self._article)

    def reset(self) -> None:
        super().reset()
        self.articles = [Article(**row) for row in recorded("articles.json")]
        self._shown: tuple[str, ...] = ()

    def show(self, *variants: str) -> None:
        """Serve these variants of the site until the next call. Without arguments the site is normal."""
        self._shown = variants

    def publish(self, slug: str, title: str) -> str:
        self.articles.insert(0, replace(self.articles[0], path=f"/{slug}", title=title))
        return self.address(self.articles[0])

    def address(self, article: Article) -> str:
        return self.url + article.path

    def _list(self) -> ResponseReturnValue:
        return self._send("list.html", articles=self.articles)

    def _redirect(self) -> ResponseReturnValue:
        """Redirect to the address in `?to=`. Many large sites have such an open redirect."""
        return redirect(request.args["to"])

    def _article(self, path: str) -> ResponseReturnValue:
        article = next((each for each in self.articles if each.path == f"/{path}"), None)
        if article is None:
            abort(404)
        return self._send("article.html", article=article)

    def _send(self, template: str, **values: Any) -> ResponseReturnValue:
        shown = self._shown
        page = render_template(template, shown=shown, url=self.url, host=urlsplit(self.url).netloc, **values)
        if "utf-16" in shown:
            return Response(page.encode("utf-16"), content_type="text/html")
        if "wrong_charset" in shown:
            return Response(page.encode(), content_type="text/html; charset=ascii")
        if "meta_charset" in shown:
            return Response(page.encode("cp1252", "xmlcharrefreplace"), content_type="text/html")
        charset = "windows-1252" if "windows-1252" in shown else "utf-8"
        return Response(page.encode(charset, "xmlcharrefreplace"), content_type=f"text/html; charset={charset}")
