"""Geocoders: find the province of a position.

The gazetteer is an offline list of villages. A geocoding service can be configured in addition. If the service fails or
returns an unknown province, the gazetteer is used, because emergency numbers depend on the province.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from typing import Protocol

from app.core.lib import provinces
from app.core.settings import current
from app.providers import gazetteer
from app.providers.http import Http, ProviderError, policy_of
from config import Config

logger = logging.getLogger(__name__)

#: Maximum km from a position to the nearest village. A position farther away is at sea or in another country.
NEAR_KM = 30.0

GOOGLE_URL = "https://maps.googleapis.com/maps/api/geocode"
NOMINATIM_URL = "https://nominatim.openstreetmap.org"

#: Maximum seconds for a call with its retries. The limit is short, because a person waits for the response.
_BUDGET_S = 3.0

#: Number of decimals of latitude and longitude in calls to a service. Three decimals are about 100 m. Positions that
#: are equal after rounding share a cached response.
_DECIMALS = 3


class Geocoder(Protocol):
    def province_at(self, lat: float, lng: float) -> str | None:
        """Return the official name of the province at a position. Return `None` outside Indonesia or far from land."""


class Offline:
    """Geocoder that returns the province of the nearest village in the gazetteer."""

    def province_at(self, lat: float, lng: float) -> str | None:
        area = gazetteer.shared().nearest(lat, lng, NEAR_KM)
        return area.province if area else None


class Remote:
    """Geocoder that calls a service and caches the responses. If a call fails, the gazetteer is used."""

    provider = ""

    def __init__(self, http: Http, url: str, key: str | None = None) -> None:
        self._http = http
        self._url = url
        self._key = key
        self._offline = Offline()
        self._remembered = lru_cache(maxsize=10_000)(self._request)

    def province_at(self, lat: float, lng: float) -> str | None:
        try:
            return self._remembered(round(lat, _DECIMALS), round(lng, _DECIMALS))
        except ProviderError as error:
            logger.warning("geocoding with the offline data: %s", error)
            return self._offline.province_at(lat, lng)

    def _request(self, lat: float, lng: float) -> str | None:
        """Return the province from the service. Raise `ProviderError` if the response is not usable."""
        raise NotImplementedError

    def _garbage(self, reason: str) -> ProviderError:
        return ProviderError(self.provider, "garbage", reason=reason)

    def _province(self, name: object, code: object = None) -> str:
        for text in (code, name):
            if isinstance(text, str) and (province := provinces.canonical(text)):
                return province
        raise self._garbage("unknown province")


class Google(Remote):
    """Geocoder that calls the Google Geocoding API."""

    provider = "google_geocoding"

    def _request(self, lat: float, lng: float) -> str | None:
        params = {
            "latlng": f"{lat},{lng}",
            "result_type": "administrative_area_level_1",
            "language": "id",
            "key": self._key,
        }
        answer = self._http.get_json(f"{self._url}/json", params)
        match answer.get("status"):
            case "OK":
                return self._read(answer.get("results"))
            case "ZERO_RESULTS":
                return None
            case status:
                raise ProviderError(self.provider, "status", reason=f"status {str(status)[:40]}")

    def _read(self, results: object) -> str | None:
        match results:
            case [{"address_components": [*components]}, *_]:
                named = {kind: component for component in components for kind in _types(component)}
            case _:
                raise self._garbage("no address")
        if named.get("country", {}).get("short_name") not in ("ID", None):
            return None
        return self._province(named.get("administrative_area_level_1", {}).get("long_name"))


def _types(component: object) -> list[str]:
    match component:
        case {"types": [*types]}:
            return [kind for kind in types if isinstance(kind, str)]
    return []


class Nominatim(Remote):
    """Geocoder that calls OpenStreetMap's Nominatim.

    The public server requires a `User-Agent` header with the name of the caller. `Http` sends this header.
    """

    provider = "nominatim"

    def _request(self, lat: float, lng: float) -> str | None:
        params = {"lat": lat, "lon": lng, "format": "jsonv2", "zoom": 5, "accept-language": "id"}
        match self._http.get_json(f"{self._url}/reverse", params):
            case {"address": {"country_code": str(country)}} if country.lower() != "id":
                return None
            case {"address": dict(address)}:
                return self._province(address.get("state"), address.get("ISO3166-2-lvl4"))
            case {"error": "Unable to geocode"}:
                return None
        raise self._garbage("no address")


@cache
def from_config(config: Config) -> Geocoder:
    """Return the geocoder that the configuration selects."""
    services: dict[str, tuple[type[Remote], str]] = {
        "google": (Google, GOOGLE_URL),
        "nominatim": (Nominatim, NOMINATIM_URL),
    }
    if config.geocoder not in services:
        return Offline()
    service, url = services[config.geocoder]
    http = Http(service.provider, policy=policy_of(config, "geocoder_url"), budget_s=_BUDGET_S, read_s=2.0, attempts=2)
    return service(http, config.geocoder_url or url, config.geocoder_key)


def province_at(lat: float, lng: float) -> str | None:
    """Return the province of a position from the configured geocoder."""
    return from_config(current()).province_at(lat, lng)
