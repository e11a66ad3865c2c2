"""Client for the places provider (Google Places API, legacy).

The client finds health facilities near a point. Every response has HTTP status 200. The
field `status` contains the result. A search has at most 3 pages of 20 places.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.core.lib.geo import degrees
from app.providers.http import Http
from app.providers.responses import ProviderError, one_line
from config import Config

PAGES = 3

#: Seconds for a search, including the waits between pages. A last read may take 2 more.
BUDGET_S = 6.0

#: Seconds to wait before a further page is requested: first wait and maximum. A page token becomes valid about two
#: seconds after the response. Until then the status is INVALID_REQUEST.
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.3, 2.0

#: Place type to search. The API accepts only one type, and Indonesian hospitals, clinics and puskesmas have this type.
_TYPE = "hospital"

PLACE_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")


@dataclass(frozen=True, slots=True)
class Place:
    """A health facility from the provider."""

    place_id: str
    name: str
    lat: float
    lng: float
    address: str | None = None
    rating: float | None = None
    types: tuple[str, ...] = ()


class Places:
    def __init__(self, http: Http, url: str, key: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = http
        self._url = url
        self._key = key
        self._sleep = sleep

    def nearby(self, lat: float, lng: float, radius_m: float) -> list[Place]:
        """Return facilities within `radius_m` metres, at most 60, without duplicates.

        If a later page fails or the time is over, return the earlier pages. Raise `ProviderError` only if the first
        page fails.
        """
        stop = time.monotonic() + BUDGET_S
        params: dict[str, object] = {
            "location": f"{lat:.6f},{lng:.6f}",
            "radius": round(radius_m),
            "type": _TYPE,
            "language": "id",
        }
        answer = self._request(params, stop)
        places: dict[str, Place] = {}
        for page in range(1, PAGES + 1):
            results = answer.get("results")
            for result in results if isinstance(results, list) else []:
                if place := _read(result):
                    places.setdefault(place.place_id, place)
            token = answer.get("next_page_token")
            if page == PAGES or not isinstance(token, str) or not token:
                break
            try:
                answer = self._request({"pagetoken": token}, stop, patient=True)
            except ProviderError:
                break
        return list(places.values())

    def _request(self, params: dict[str, object], stop: float, *, patient: bool = False) -> dict[str, object]:
        """Return one page with the status OK or ZERO_RESULTS.

        If `patient` is true, wait before each request, and retry until the page token is valid.
        """
        wait = _FIRST_WAIT_S
        while True:
            if patient:
                if time.monotonic() + wait >= stop:
                    raise ProviderError(self._http.provider, "timeout")
                self._sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT_S)
            answer = self._http.get_json(
                f"{self._url}/nearbysearch/json",
                {**params, "key": self._key},
                budget_s=min(self._http.budget_s, stop - time.monotonic()),
            )
            status = answer.get("status")
            if status in ("OK", "ZERO_RESULTS"):
                return answer
            if not patient or status != "INVALID_REQUEST":
                raise ProviderError(self._http.provider, "status", reason=str(status)[:40])


def _read(result: Any) -> Place | None:
    """Return the place of one result, or `None` if it is permanently closed or has no valid position."""
    match result:
        case {
            "place_id": str(place_id),
            "name": str(name),
            "geometry": {"location": {"lat": lat, "lng": lng}},
        }:
            pass
        case _:
            return None
    try:
        lat, lng = degrees(lat, 90), degrees(lng, 180)
    except ValueError:
        return None
    title = one_line(name, 255)
    if not PLACE_ID.fullmatch(place_id) or not title or result.get("business_status") == "CLOSED_PERMANENTLY":
        return None
    rating, types = result.get("rating"), result.get("types")
    return Place(
        place_id,
        title,
        lat,
        lng,
        address=one_line(result.get("vicinity"), 500),
        rating=float(rating) if type(rating) in (int, float) and 0 <= rating <= 5 else None,
        types=tuple(kind for kind in types if isinstance(kind, str))[:20] if isinstance(types, list) else (),
    )


@cache
def from_config(config: Config) -> Places | None:
    """Return the provider's client, or `None` without a key. Without a client, only the database is searched."""
    if not config.places_key:
        return None
    return Places(Http("places", read_s=2.0), config.places_url, config.places_key)
