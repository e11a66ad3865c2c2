"""Simulators of two geocoders that turn a position into a province: Google's Geocoding API and Nominatim."""

from __future__ import annotations

from functools import partial

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from app.core.lib.geo import Position
from app.core.lib.provinces import ISO_CODES
from app.providers.gazetteer import Regency, shared
from dev.simulators.base import Refusals, Simulator

KEY = "simulated-geocoder-key"

CODES = {province: code for code, province in ISO_CODES.items()}

ERRORS = {
    "OVER_QUERY_LIMIT": "You have exceeded your rate-limit for this API.",
    "REQUEST_DENIED": "The provided API key is invalid.",
    "INVALID_REQUEST": "Invalid request. Invalid 'latlng' parameter.",
    "UNKNOWN_ERROR": "Server error. Please try again.",
}


class Geocoder(Simulator):
    """A geocoder with known areas.

    If `moved` is set, the geocoder returns the area `moved` for all positions. A test then sees which geocoder the
    service called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.moved: Regency | None = None

    def reset(self) -> None:
        super().reset()
        self.moved = None

    def area(self, position: Position) -> Regency | None:
        return self.moved or shared().nearest(position.lat, position.lng, 30)


class Google(Geocoder):
    """Google's geocoder with the route `/json`. It returns the province and the country of the position `latlng`."""

    name = "google_geocoder"

    def env(self) -> dict[str, str]:
        return {"GEOCODER": "google", "GEOCODER_KEY": KEY, "GEOCODER_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/json")(self._reverse)

    def refusals(self) -> Refusals:
        return {status: partial(refusal, status) for status in ERRORS}

    def _reverse(self) -> ResponseReturnValue:
        if request.args.get("key") != KEY:
            return refusal("REQUEST_DENIED")
        try:
            position = Position.parse(*request.args.get("latlng", "").split(","))
        except (ValueError, TypeError):
            return refusal("INVALID_REQUEST")
        area = self.area(position)
        if area is None:
            return {"plus_code": {}, "results": [], "status": "ZERO_RESULTS"}
        name = area.province or "Luar Negeri"
        country, code = ("Indonesia", "ID") if area.province else (area.kabupaten, "XX")
        components = [
            {"long_name": name, "short_name": name, "types": ["administrative_area_level_1", "political"]},
            {"long_name": country, "short_name": code, "types": ["country", "political"]},
        ]
        result = {
            "address_components": components,
            "formatted_address": f"{name}, {country}",
            "types": ["administrative_area_level_1", "political"],
        }
        return {"plus_code": {}, "results": [result], "status": "OK"}


class Nominatim(Geocoder):
    """Nominatim with the route `/reverse`. Like the public server, it refuses callers without their own User-Agent."""

    name = "nominatim"

    def env(self) -> dict[str, str]:
        return {"GEOCODER": "nominatim", "GEOCODER_URL": self.url}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.get("/reverse")(self._reverse)

    def refusals(self) -> Refusals:
        return {"blocked": blocked}

    def _reverse(self) -> ResponseReturnValue:
        agent = request.headers.get("User-Agent", "")
        if not agent or agent.startswith("python-requests"):
            return blocked()
        try:
            position = Position.parse(request.args.get("lat"), request.args.get("lon"))
        except ValueError:
            return {"error": {"code": 400, "message": "Parameter 'lat' must be a number."}}, 400
        area = self.area(position)
        if area is None:
            return {"error": "Unable to geocode"}
        address = {"country": area.kabupaten, "country_code": "xx"}
        if area.province:
            address = {
                "state": area.province,
                "ISO3166-2-lvl4": f"ID-{CODES[area.province]}",
                "country": "Indonesia",
                "country_code": "id",
            }
        return {"place_id": 1, "licence": "ODbL", "addresstype": "state", "address": address}


def refusal(status: str) -> ResponseReturnValue:
    """Return an error of Google's API, which has HTTP status 200."""
    return {"error_message": ERRORS[status], "results": [], "status": status}


def blocked() -> ResponseReturnValue:
    return "<html><head><title>Access blocked</title></head></html>", 403
