"""Simulator of the places provider: Nearby Search of the legacy Places API."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.distance import distance_km
from dev.simulators.base import Refusals, Simulator

KEY = "simulated-places-key"
PAGE, PAGES = 20, 3
FARTHEST_M = 50_000

#: Seconds after a search until the token for its next page works. In the real API this takes about two seconds.
TOKEN_DELAY_S = 2.0

ERRORS = ("OVER_QUERY_LIMIT", "REQUEST_DENIED", "INVALID_REQUEST", "UNKNOWN_ERROR")


@dataclass
class Facility:
    """One place. `extra` overwrites fields of the response, so that a test can use unusual values."""

    place_id: str
    name: str
    lat: float
    lng: float
    extra: dict[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        return {
            "place_id": self.place_id,
            "name": self.name,
            "geometry": {"location": {"lat": self.lat, "lng": self.lng}},
            "types": ["hospital", "health", "point_of_interest", "establishment"],
            "rating": 4.2,
            "vicinity": "Jl. Jend. Sudirman No. 1",
        } | self.extra


def examples() -> list[Facility]:
    """Return three pages of places around Cimahi, and one place in Jayapura."""
    words = ("RSUD", "Klinik", "Puskesmas")
    return [
        *(
            Facility(
                f"ChIJsimulasi{number:04d}",
                f"{words[number % 3]} Simulasi {number}",
                -6.88 + 0.0004 * number,
                107.55 + 0.0003 * number,
            )
            for number in range(70)
        ),
        Facility("ChIJsimulasiJayapura", "RSUD Jayapura", -2.5330, 140.7180),
    ]


class PlacesSearch(Simulator):
    """A map of facilities. `delay_s` is the number of seconds until the token of the next page works."""

    name = "places"

    def __init__(self) -> None:
        super().__init__()
        #: Next pages by token: the time when the token works, the rows, and the number of the page.
        self._tokens: dict[str, tuple[float, list[dict[str, Any]], int]] = {}
        self.reset()

    def env(self) -> dict[str, str]:
        return {"PLACES_KEY": KEY, "PLACES_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/nearbysearch/json", endpoint="nearby")(partial(self._keyed, self._nearby))

    def refusals(self) -> Refusals:
        return {status: partial(refusal, status) for status in ERRORS}

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"add": self.add}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.facilities = {facility.place_id: facility for facility in examples()}
            self.delay_s = TOKEN_DELAY_S
            self._tokens.clear()

    def add(self, place_id: str, name: str, lat: float, lng: float, **values: Any) -> None:
        with self.lock:
            self.facilities[place_id] = Facility(place_id, name, lat, lng, **values)

    def searches(self) -> int:
        """Return the number of searches. Requests for further pages of a search do not count."""
        with self.lock:
            return sum(call.path == "/nearbysearch/json" and "location" in call.query for call in self.calls)

    def _keyed(self, answer: Callable[[], ResponseReturnValue]) -> ResponseReturnValue:
        if request.args.get("key") != KEY:
            return refusal("REQUEST_DENIED")
        with self.lock:
            return answer()

    def _nearby(self) -> ResponseReturnValue:
        if "pagetoken" in request.args:
            works_at, rows, page = self._tokens.get(request.args["pagetoken"], (float("inf"), [], 0))
            return refusal("INVALID_REQUEST") if time.monotonic() < works_at else self._page(rows, page)
        try:
            lat, lng = map(float, request.args.get("location", "").split(","))
            radius = float(request.args.get("radius", ""))
        except ValueError:
            return refusal("INVALID_REQUEST")
        if not 0 < radius <= FARTHEST_M:
            return refusal("INVALID_REQUEST")
        is_asked = request.args.get("type") in (None, "hospital")
        near = [each for each in self.facilities.values() if distance_km(lat, lng, each.lat, each.lng) * 1000 <= radius]
        return self._page([each.row() for each in near if is_asked], 1)

    def _page(self, rows: list[dict[str, Any]], page: int) -> ResponseReturnValue:
        answer: dict[str, Any] = {"results": rows[:PAGE], "status": "OK" if rows else "ZERO_RESULTS"}
        if page < PAGES and len(rows) > PAGE:
            token = f"Aap_{len(self._tokens)}_{time.monotonic_ns()}"
            self._tokens[token] = (time.monotonic() + self.delay_s, rows[PAGE:], page + 1)
            answer["next_page_token"] = token
        return answer


def refusal(status: str) -> ResponseReturnValue:
    """Return an error of the Places API, which has HTTP status 200."""
    return {"results": [], "status": status, "error_message": f"simulated: {status}"}
